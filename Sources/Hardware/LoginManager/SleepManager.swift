// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import WhorlSupport

/// The part of the system that puts the machine to sleep, as a service sees it.
package protocol SleepManager: Sendable {
    /// Delays the machine's sleep for as long as the lock lives, a few seconds at most.
    func delaySleep() async throws(BusError) -> any SleepDelay
    /// Returns a stream that says `true` before each sleep and `false` after it.
    func sleepNotices() async throws(BusError) -> AsyncStream<Bool>
    /// Returns whether the machine is about to sleep.
    func isGoingToSleep() async throws(BusError) -> Bool
}

/// A delay of the machine's sleep, which ends when the value is released.
package protocol SleepDelay: AnyObject, Sendable {}

/// systemd's manager of logins (`org.freedesktop.login1`).
package struct LoginManager: SleepManager {
    private static let service = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let interface = "org.freedesktop.login1.Manager"

    package init() {}

    package func delaySleep() async throws(BusError) -> any SleepDelay {
        let reply = try await SystemBus.shared.call(
            Self.member("Inhibit"),
            ["sleep", "whorld", "The fingerprint reader is let go.", "delay"]
        )
        guard let descriptor = reply.descriptor else {
            throw BusError(cause: "the login manager gave no descriptor")
        }
        return DescriptorDelay(descriptor)
    }

    package func sleepNotices() async throws(BusError) -> AsyncStream<Bool> {
        let (notices, sink) = AsyncStream.makeStream(of: Bool.self)
        try await SystemBus.shared.follow(Self.member("PrepareForSleep")) { sink.yield($0) }
        return notices
    }

    package func isGoingToSleep() async throws(BusError) -> Bool {
        try await property("PreparingForSleep")
    }

    func property(_ name: String) async throws(BusError) -> Bool {
        let get = BusMethod(
            service: Self.service,
            path: Self.path,
            interface: "org.freedesktop.DBus.Properties",
            name: "Get"
        )
        guard let value = try await SystemBus.shared.call(get, [Self.interface, name]).truth else {
            throw BusError(cause: "the property \(name) is no truth value")
        }
        return value
    }

    private static func member(_ name: String) -> BusMethod {
        BusMethod(service: service, path: path, interface: interface, name: name)
    }
}

/// The descriptor that the login manager hands out; closing it ends the delay.
private final class DescriptorDelay: SleepDelay {
    private let descriptor: CInt
    init(_ descriptor: CInt) { self.descriptor = descriptor }
    deinit { close(descriptor) }
}
