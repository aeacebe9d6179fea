// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The part of the system that puts the machine to sleep, as a service sees it.
package protocol SleepManager: Sendable {
    /// Delays the machine's sleep for as long as the lock lives, a few seconds at most.
    func delaySleep() async throws(SystemBus.Fault) -> any SleepDelay
    /// Returns a stream that says `true` before each sleep and `false` after it.
    func sleepNotices() async throws(SystemBus.Fault) -> AsyncStream<Bool>
    /// Returns whether the machine is about to sleep.
    func isGoingToSleep() async throws(SystemBus.Fault) -> Bool
}

/// A delay of the machine's sleep, which ends when the value is released.
package protocol SleepDelay: AnyObject, Sendable {}

/// systemd's manager of logins (`org.freedesktop.login1`).
package struct LoginManager: SleepManager {
    private static let manager = SystemBus.Target("org.freedesktop.login1", "/org/freedesktop/login1")
    private static let interface = "org.freedesktop.login1.Manager"
    /// The longest wait for an answer, in seconds.
    private static let patience: Int32 = 5

    package init() {}

    package func delaySleep() async throws(SystemBus.Fault) -> any SleepDelay {
        DescriptorDelay(
            try await SystemBus.shared.descriptor(
                from: Self.interface + ".Inhibit",
                of: Self.manager,
                "('sleep', 'whorld', 'Releasing the fingerprint reader', 'delay')",
                within: Self.patience
            )
        )
    }

    package func sleepNotices() async throws(SystemBus.Fault) -> AsyncStream<Bool> {
        let (notices, sink) = AsyncStream.makeStream(of: Bool.self)
        try await SystemBus.shared.follow(Self.interface + ".PrepareForSleep", of: Self.manager) { signal in
            if let isAboutToSleep = signal[0]?.flag { sink.yield(isAboutToSleep) }
        }
        return notices
    }

    package func isGoingToSleep() async throws(SystemBus.Fault) -> Bool {
        try await property("PreparingForSleep")
    }

    func property(_ name: String) async throws(SystemBus.Fault) -> Bool {
        let answer = try await SystemBus.shared.call(
            "org.freedesktop.DBus.Properties.Get",
            of: Self.manager,
            "('\(Self.interface)', '\(name)')",
            within: Self.patience
        )
        guard let value = answer[0]?.flag else {
            throw SystemBus.Fault(name: nil, cause: "the property \(name) is no truth value")
        }
        return value
    }
}

/// The descriptor that the login manager hands out; closing it ends the delay.
private final class DescriptorDelay: SleepDelay {
    private let descriptor: CInt
    init(_ descriptor: CInt) { self.descriptor = descriptor }
    deinit { close(descriptor) }
}

/// The lid of a portable machine, and its dock.
package struct Lid: Sendable, Hashable {
    /// Whether the lid is shut; `false` on a machine without one.
    package let isShut: Bool
    /// Whether the machine stands in a dock, or shows its picture on another screen.
    package let isDocked: Bool

    /// Makes a state of the lid.
    package init(isShut: Bool, isDocked: Bool) {
        self.isShut = isShut
        self.isDocked = isDocked
    }
}

/// The part of the system that knows the lid.
package protocol LidManager: Sendable {
    /// Returns the state of the lid now.
    func lid() async throws(SystemBus.Fault) -> Lid
}

extension LoginManager: LidManager {
    package func lid() async throws(SystemBus.Fault) -> Lid {
        Lid(isShut: try await property("LidClosed"), isDocked: try await property("Docked"))
    }
}
