// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import WhorlIPC
import WhorlSupport

/// The socket that the service manager has opened (sd_listen_fds(3)).
enum ListeningSocket {
    /// Takes the only socket over.
    ///
    /// - Throws: `ENOENT` without exactly one, as when the program is started by hand; `ENOTSOCK` and others if the
    ///   descriptor is another thing.
    static func inherited() throws(SystemCallError) -> Descriptor {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard number("LISTEN_PID") == getpid(), number("LISTEN_FDS") == 1 else {
            throw SystemCallError(missing: "listening socket of systemd")
        }
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(3, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 else {
            throw SystemCallError("getsockopt")
        }
        guard isListening != 0 else { throw SystemCallError(missing: "listening socket of systemd") }
        return Descriptor(owning: 3)
    }

    /// Hangs up on the programs that wait in the socket, since this one cannot serve them.
    ///
    /// Otherwise they would wait on while the service manager starts this program again for them, and again.
    static func refuseWaiting() {
        // Started by hand, there is no socket in which a program waits.
        guard let listener = try? inherited(), (try? UnixSocket.adopt(listener)) != nil else { return }
        for _ in 0..<1024 {
            // What is accepted is closed at once; an error means as little as that none waits.
            guard (try? UnixSocket.accept(from: listener)) != nil else { return }
        }
    }

    private static func number(_ name: String) -> Int32? {
        getenv(name).flatMap { Int32(String(cString: $0)) }
    }
}

/// The service manager, which is told how the service fares (sd_notify(3)).
enum ServiceManager {
    /// The levels of lines in the journal, as sd-daemon(3) numbers them.
    enum Level: Int {
        case error = 3
        case warning = 4
        case notice = 5
    }

    /// Writes a line into the journal, which takes the program's standard error.
    static func log(_ level: Level, _ text: String) {
        let line = "<\(level.rawValue)>whorld: \(level): \(text)\n"
        // A journal that takes nothing changes nothing.
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }

    /// Sends a state such as `READY=1`; without a manager that wants to know, nothing is sent.
    static func notify(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }) else { return }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // An abstract name begins with a zero byte.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(socket, state, state.utf8.count, Int32(MSG_NOSIGNAL), address, size)
            }
        }
    }
}

/// The keep-alive of the service (sd_watchdog_enabled(3)).
///
/// It asks the engine before each message. A timer would go on beside an engine that is stuck.
enum Watchdog {
    /// Sends keep-alives until the process ends, where systemd wants them.
    ///
    /// - Parameter pulse: Returns when the engine has done a piece of work.
    static func begin(_ pulse: @escaping @Sendable () async -> Void) {
        guard let limit = limit() else { return }
        Task {
            while true {
                await pulse()
                ServiceManager.notify("WATCHDOG=1")
                await OffPoolTimer.waitUncancelled(limit / 3)
            }
        }
    }

    private static func limit() -> Duration? {
        let owner = getenv("WATCHDOG_PID").flatMap { Int32(String(cString: $0)) }
        let limit = getenv("WATCHDOG_USEC").flatMap { Int64(String(cString: $0)) }
        guard let limit, limit > 0, owner == nil || owner == getpid() else { return nil }
        return .microseconds(limit)
    }
}

/// The signals that ask the service to end.
enum EndSignals {
    /// Calls `body` for the first SIGTERM or SIGINT.
    ///
    /// The second one ends the process. Both are registered when this function returns.
    ///
    /// Dispatch registers a source on another thread. Until then a signal ends the process; if it were ignored, it would be
    /// lost.
    static func onFirst(_ body: @escaping @Sendable () -> Void) async {
        for number in [SIGTERM, SIGINT] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                source.cancel()
                body()
            }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.activate()
            }
        }
    }
}
