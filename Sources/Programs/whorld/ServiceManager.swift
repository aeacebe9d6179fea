// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import WhorlIPC
import WhorlSupport

/// The socket that the service manager opened (sd_listen_fds(3)).
enum ListeningSocket {
    /// Takes over the only socket that the service manager passed.
    ///
    /// - Throws: `ENOENT` unless there is exactly one, for example if the program was started manually; `ENOTSOCK` or
    ///   another error if the descriptor is not a socket.
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

    /// Closes the connections that are waiting on the socket, because this process cannot serve them.
    ///
    /// Otherwise the clients would keep waiting, and the service manager would start this program for them again and
    /// again.
    static func refuseWaiting() {
        // If started manually, there is no socket with waiting programs.
        guard let listener = try? inherited(), (try? UnixSocket.adopt(listener)) != nil else { return }
        for _ in 0..<1024 {
            // An accepted connection is closed immediately; an error has the same effect as none waiting.
            guard (try? UnixSocket.accept(from: listener)) != nil else { return }
        }
    }

    private static func number(_ name: String) -> Int32? {
        getenv(name).flatMap { Int32(String(cString: $0)) }
    }
}

/// The service manager, which the service notifies of its state (sd_notify(3)).
enum ServiceManager {
    /// The levels of journal lines, with the numbers from sd-daemon(3).
    enum Level: Int {
        case error = 3
        case warning = 4
        case notice = 5
    }

    /// Writes a line to the journal, which receives the program's standard error.
    static func log(_ level: Level, _ text: String) {
        let line = "<\(level.rawValue)>whorld: \(level): \(text)\n"
        // A failure to write to the journal is ignored.
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }

    /// Sends a state such as `READY=1`, if a service manager expects one.
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
/// It checks the engine before each message, because a timer alone would keep running while the engine is stuck.
enum Watchdog {
    /// Sends keep-alives until the process exits, if systemd expects them.
    ///
    /// - Parameter pulse: Waits until the engine has done some work.
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

/// The signals that ask the service to terminate.
enum EndSignals {
    /// Calls `body` for the first SIGTERM or SIGINT.
    ///
    /// The second one terminates the process. Both are registered when this function returns.
    ///
    /// Dispatch registers a source on another thread. Until that is done, a signal terminates the process; if it were
    /// ignored instead, it would be lost.
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
