// SPDX-License-Identifier: Apache-2.0

internal import WhorlLibfprint
package import WhorlGLib
package import WhorlFingerprint
package import WhorlService
internal import WhorlSupport

/// The readers of this process, as the whole machine's sleep concerns them.
package enum MachineReaders {
    /// Ends the evaluations of all users, and closes the readers.
    ///
    /// It returns within 4 seconds, for which the login manager waits.
    package static func letGo(_ interruptions: Interruptions) async {
        await interruptions.begin(.sleep, patience: .seconds(2))
        await LibfprintSource.shared.suspendReaders(patience: .seconds(1))
    }

    /// Takes the readers back that are connected after the sleep, and lets evaluations begin again.
    package static func takeBack(_ interruptions: Interruptions) async {
        // A driver that hangs keeps its own reader away, and not the passcode and the other readers.
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
    /// Returns when the parts without which no call is answered have done a piece of work: the thread of the readers,
    /// the queue of the state, and Swift's shared pool.
    ///
    /// Where one of them is stuck, it does not return.
    package func pulse() async {
        await LibfprintSource.shared.answer()
        await state.answer()
        await Task.detached {}.value
    }
}

/// Whether a person can touch a reader: a built-in one is out of reach under a shut lid.
package struct ReaderReachability: Sendable {
    /// The reach of a program that does not ask for the lid: every reader can be touched.
    static let everywhere = ReaderReachability(lid: nil)

    private let lid: (any LidManager)?
    private let builtIn: Set<ReaderID>

    /// Describes the reach of a machine's readers.
    ///
    /// - Parameters:
    ///   - lid: The part of the system that knows the lid.
    ///   - builtIn: Readers that are built in, by the administrator's word, where the firmware does not say so.
    package init(lid: (any LidManager)?, builtIn: Set<ReaderID> = []) {
        self.lid = lid
        self.builtIn = builtIn
    }

    /// Returns the reason why a reader cannot be touched now; `nil` when it can, or where the lid is not known.
    package func obstacle(to reader: any FingerprintReader) async -> ServiceError? {
        guard let lid, await placement(of: reader) == .builtIn else { return nil }
        // Without a login manager nothing is known of a lid.
        guard let lid = try? await lid.lid() else { return nil }
        return Self.obstacle(to: .builtIn, under: lid)
    }

    /// Waits until a reader can no longer be touched, and returns the reason.
    ///
    /// The login manager sends no signal when the lid moves, so it is asked each half second.
    ///
    /// - Returns: `nil` at once where no lid can cover the reader, or when the task is cancelled.
    package func untilObstructed(_ reader: any FingerprintReader) async -> ServiceError? {
        guard lid != nil, await placement(of: reader) == .builtIn else { return nil }
        while await OffPoolTimer.wait(.milliseconds(500)) {
            if let obstacle = await obstacle(to: reader) { return obstacle }
        }
        return nil
    }

    /// Returns the reason why a reader in a place cannot be touched; `nil` when it can.
    package static func obstacle(to placement: ReaderPlacement, under lid: Lid) -> ServiceError? {
        guard placement == .builtIn, lid.isShut else { return nil }
        return ServiceError(
            .lidShut,
            recovery: lid.isDocked ? "Open the lid, or connect a reader that can be touched." : nil,
            cause: "the reader is built in\(lid.isDocked ? ", and the machine docked" : "")"
        )
    }

    private func placement(of reader: any FingerprintReader) async -> ReaderPlacement {
        if builtIn.contains(await reader.info.id) { return .builtIn }
        return await (reader as? LibfprintReader)?.placement ?? .unknown
    }
}
