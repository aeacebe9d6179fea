// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The system component that puts the machine to sleep.
package protocol SleepManager: Sendable {
    /// Delays system sleep for the lifetime of the returned value, but for a few seconds at most.
    func delaySleep() async throws(SystemBus.Fault) -> any SleepDelay
    /// Returns a stream of `true` before each sleep and `false` after it.
    func sleepNotices() async throws(SystemBus.Fault) -> AsyncStream<Bool>
    /// Returns whether the machine is about to sleep.
    func isGoingToSleep() async throws(SystemBus.Fault) -> Bool
}

/// A delay of system sleep, which ends when the value is released.
package protocol SleepDelay: AnyObject, Sendable {}

/// systemd's login manager (`org.freedesktop.login1`).
package struct LoginManager: SleepManager {
    private static let manager = SystemBus.Target("org.freedesktop.login1", "/org/freedesktop/login1")
    private static let interface = "org.freedesktop.login1.Manager"
    /// The time limit for replies, in seconds.
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
            throw SystemBus.Fault(name: nil, cause: "the property \(name) is not a Boolean")
        }
        return value
    }
}

/// The descriptor that the login manager returned.
///
/// Closing it ends the delay.
private final class DescriptorDelay: SleepDelay {
    private let descriptor: CInt
    init(_ descriptor: CInt) { self.descriptor = descriptor }
    deinit { close(descriptor) }
}

/// The state of a laptop's lid and dock.
package struct Lid: Sendable, Hashable {
    /// Whether the lid is closed, or `false` on a machine without a lid.
    package let isShut: Bool
    /// Whether the machine is docked, or uses an external display.
    package let isDocked: Bool

    /// Creates a lid state.
    package init(isShut: Bool, isDocked: Bool) {
        self.isShut = isShut
        self.isDocked = isDocked
    }
}

/// The system component that reports the state of the lid.
package protocol LidManager: Sendable {
    /// Returns the current state of the lid.
    func lid() async throws(SystemBus.Fault) -> Lid
}

extension LoginManager: LidManager {
    package func lid() async throws(SystemBus.Fault) -> Lid {
        Lid(isShut: try await property("LidClosed"), isDocked: try await property("Docked"))
    }
}
