// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlRemote

/// The program that asks for the user's password on this terminal when polkit wants it (pkttyagent(1)), as
/// `systemctl` has one beside it; where the session has an agent of its own, that one asks.
enum PasswordAgent {
    private static let program = "/usr/bin/pkttyagent"
    /// The time that the agent has to register itself, in milliseconds.
    private static let patience: Int32 = 5_000

    /// Does something for which polkit may want a password, with the agent beside it.
    static func beside<Value>(
        _ session: Session,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let agent = start(session)
        defer { if let agent { end(agent) } }
        return try await body()
    }

    /// Starts the agent, where a person at a terminal asks the system's service; `nil` in any other case, or where it
    /// cannot be started: polkit's own error then says what is missing.
    private static func start(_ session: Session) -> pid_t? {
        guard session.place == .system, !session.console.isJSON, geteuid() != 0,
            isatty(STDIN_FILENO) == 1, access(program, X_OK) == 0
        else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let words = [program, "--process", "\(getpid())", "--notify-fd", "\(ends[1])", "--fallback"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var variables: [UnsafeMutablePointer<CChar>?] = [nil]
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that this program watches or ignores end the agent as they end others.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var started: pid_t = 0
        let fault = posix_spawn(&started, program, nil, &attributes, &arguments, &variables)
        close(ends[1])
        guard fault == 0 else { return nil }
        // It closes its end when polkit knows it, or when it ends.
        var end = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        poll(&end, 1, patience)
        return started
    }

    private static func end(_ agent: pid_t) {
        kill(agent, SIGTERM)
        var status: Int32 = 0
        waitpid(agent, &status, 0)
    }
}
