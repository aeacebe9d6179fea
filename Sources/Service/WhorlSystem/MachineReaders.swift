// SPDX-License-Identifier: Apache-2.0

internal import WhorlLibfprint
package import WhorlGLib
package import WhorlFingerprint
package import WhorlService
internal import WhorlSupport

/// Prepares this process's readers for when the machine goes to sleep.
package enum MachineReaders {
    /// Ends all users' evaluations and closes the readers.
    ///
    /// It returns within 4 seconds, because the login manager waits for it.
    package static func letGo(_ interruptions: Interruptions) async {
        await interruptions.begin(.sleep, patience: .seconds(2))
        await LibfprintSource.shared.suspendReaders(patience: .seconds(1))
    }

    /// Takes over the readers that are connected after the machine wakes up, and allows evaluations again.
    package static func takeBack(_ interruptions: Interruptions) async {
        // A driver that hangs blocks only its own reader, and not the passcode and the other readers.
        await OffPoolTimer.wait(atMost: .seconds(5)) { end in
            Task {
                await LibfprintSource.shared.resumeReaders()
                end()
            }
        }
        interruptions.end(.sleep)
    }
}

extension InProcessRoot {
    /// Waits until the essential parts have done some work: the readers' thread, the state's queue, and Swift's shared
    /// pool.
    ///
    /// If one of them is stuck, this function does not return.
    package func pulse() async {
        await LibfprintSource.shared.answer()
        await state.answer()
        await Task.detached {}.value
    }
}

/// Determines whether the user can touch a reader, because a built-in reader cannot be touched while the lid is closed.
package struct ReaderReachability: Sendable {
    /// The reachability in a program that does not check the lid, in which every reader counts as reachable.
    static let everywhere = ReaderReachability(lid: nil)

    private let lid: (any LidManager)?
    private let builtIn: Set<ReaderID>

    /// Creates the reachability of a machine's readers.
    ///
    /// - Parameters:
    ///   - lid: The part of the system that reports the state of the lid; `nil` to not check it.
    ///   - builtIn: The readers that the administrator declares as built in because the firmware does not report it.
    package init(lid: (any LidManager)?, builtIn: Set<ReaderID> = []) {
        self.lid = lid
        self.builtIn = builtIn
    }

    /// Returns the reason why a reader cannot be touched now; `nil` if it can be touched or the state of the lid is
    /// unknown.
    package func obstacle(to reader: any FingerprintReader) async -> ServiceError? {
        guard let lid, await placement(of: reader) == .builtIn else { return nil }
        // Without a login manager, nothing is known about a lid.
        guard let lid = try? await lid.lid() else { return nil }
        return Self.obstacle(to: .builtIn, under: lid)
    }

    /// Waits until a reader can no longer be touched, and returns the reason.
    ///
    /// The login manager does not send a signal when the lid moves, so it is polled every half second.
    ///
    /// - Returns: The reason; `nil` immediately if a lid cannot cover the reader, or when the task is cancelled.
    package func untilObstructed(_ reader: any FingerprintReader) async -> ServiceError? {
        guard lid != nil, await placement(of: reader) == .builtIn else { return nil }
        while await OffPoolTimer.wait(.milliseconds(500)) {
            if let obstacle = await obstacle(to: reader) { return obstacle }
        }
        return nil
    }

    /// Returns the reason why a reader at a given position cannot be touched; `nil` if it can be.
    package static func obstacle(to placement: ReaderPlacement, under lid: Lid) -> ServiceError? {
        guard placement == .builtIn, lid.isShut else { return nil }
        return ServiceError(
            .lidShut,
            recovery: lid.isDocked ? "Open the lid, or connect a reader that can be touched." : nil,
            cause: "the reader is built in\(lid.isDocked ? ", and the machine is docked" : "")"
        )
    }

    private func placement(of reader: any FingerprintReader) async -> ReaderPlacement {
        if builtIn.contains(await reader.info.id) { return .builtIn }
        return await (reader as? LibfprintReader)?.placement ?? .unknown
    }
}
