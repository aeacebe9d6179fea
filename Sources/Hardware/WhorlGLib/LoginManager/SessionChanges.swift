// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A change of a login session that affects whether its programs may use the reader.
package enum SessionChange: Sendable, Hashable {
    /// The session's screen was locked.
    case locked(String)
    /// The session's screen locker was asked to lock the screen. It may never report that it did.
    case locking(String)
    /// The session's screen was unlocked.
    case unlocked(String)
    /// The session's screen locker was asked to unlock the screen. Only the session's hint shows whether it did.
    ///
    /// If the login manager restarts while the screen is locked, it loses the hint and does not report when the screen
    /// is unlocked.
    case unlocking(String)
    /// The session is no longer the active session on its seat.
    case left(String)
}

/// The system component that manages login sessions.
package protocol SessionManager: Sendable {
    /// Returns the login session of this process or of its user's display, or `nil` if there is none.
    func ownSession() async throws(SystemBus.Fault) -> String?
    /// Returns whether the screen of a session is locked.
    func isLocked(_ session: String) async throws(SystemBus.Fault) -> Bool
    /// Returns a stream of changes to all login sessions.
    func sessionChanges() async throws(SystemBus.Fault) -> AsyncStream<SessionChange>
}

extension LoginManager: SessionManager {
    package func ownSession() async throws(SystemBus.Fault) -> String? {
        do throws(SystemBus.Fault) {
            // `auto` is the session of the process, or else of its user's display.
            return try await path(of: "auto").flatMap(Self.session)
        } catch {
            guard error.name == "org.freedesktop.login1.NoSuchSession" || error.name == Self.noSession else {
                throw error
            }
            return nil
        }
    }

    package func isLocked(_ session: String) async throws(SystemBus.Fault) -> Bool {
        try await property("LockedHint", of: session)
    }

    /// Returns whether a session is the active one on its seat; `false` for a session that has ended.
    package func isActive(_ session: String) async throws(SystemBus.Fault) -> Bool {
        try await property("Active", of: session)
    }

    private func property(_ name: String, of session: String) async throws(SystemBus.Fault) -> Bool {
        guard let path = try await path(of: session) else { return false }
        let answer = try await SystemBus.shared.call(
            "org.freedesktop.DBus.Properties.Get",
            of: SystemBus.Target(Self.service, path),
            "('\(Self.service).Session', '\(name)')",
            within: 5
        )
        guard let value = answer[0]?.flag else {
            throw SystemBus.Fault(name: nil, cause: "the session's \(name) is not a Boolean")
        }
        return value
    }

    /// Returns the object path of a session, which is given as `auto` or by a name that the login manager returned.
    private func path(of session: String) async throws(SystemBus.Fault) -> String? {
        guard session.utf8.allSatisfy({ $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "\\") }) else {
            return nil
        }
        return try await SystemBus.shared.call(
            "\(Self.service).Manager.GetSession",
            of: SystemBus.Target(Self.service, "/org/freedesktop/login1"),
            "('\(session)',)",
            within: 5
        )[0]?.text
    }

    private static let service = "org.freedesktop.login1"
    private static let noSession = "org.freedesktop.login1.NoSessionForPID"

    /// Returns a stream of changes to all login sessions.
    package func sessionChanges() async throws(SystemBus.Fault) -> AsyncStream<SessionChange> {
        let (changes, sink) = AsyncStream.makeStream(of: SessionChange.self)
        let service = "org.freedesktop.login1"
        // The hint reports that the screen is locked; the signal asks the screen locker to lock, and the locker may set
        // no hint.
        try await SystemBus.shared.followAll("\(service).Session.Lock", from: service) { path, _ in
            if let session = Self.session(at: path) { sink.yield(.locking(session)) }
        }
        // Each signal makes the service query the state, so only one per second counts for each session; extra signals
        // delay no lock.
        let recent = Mutex<[String: ContinuousClock.Instant]>([:])
        try await SystemBus.shared.followAll("\(service).Session.Unlock", from: service) { path, _ in
            guard let session = Self.session(at: path) else { return }
            let isNew = recent.withLock { recent in
                let now = ContinuousClock.now
                recent = recent.filter { now - $0.value < .seconds(1) }
                guard recent[session] == nil else { return false }
                recent[session] = now
                return true
            }
            if isNew { sink.yield(.unlocking(session)) }
        }
        try await SystemBus.shared.followAll(
            "org.freedesktop.DBus.Properties.PropertiesChanged",
            from: service
        ) { path, signal in
            guard signal[0]?.text == "\(service).Session", let session = Self.session(at: path) else {
                return
            }
            if let isLocked = signal[1]?["LockedHint"]?.flag {
                sink.yield(isLocked ? .locked(session) : .unlocked(session))
            }
            if signal[1]?["Active"]?.flag == false { sink.yield(.left(session)) }
        }
        return changes
    }

    /// Returns the name of the session with the given object path, or `nil` for other objects.
    ///
    /// In the path, bytes other than letters and digits are encoded as `_` and two digits (sd_bus_path_encode(3)).
    static func session(at path: String) -> String? {
        let folder = "/org/freedesktop/login1/session/"
        guard path.hasPrefix(folder) else { return nil }
        var bytes: [UInt8] = []
        var rest = path.utf8.dropFirst(folder.utf8.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            guard let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }
}
