// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlRemote

/// The program that prompts for a password on this terminal if polkit requires one (pkttyagent(1)).
///
/// `systemctl` starts it in the same way. If the session already has an agent, that agent prompts instead.
enum PasswordAgent {
    private static let program = "/usr/bin/pkttyagent"
    /// The maximum time to wait for the agent to register, in milliseconds.
    private static let patience: Int32 = 5_000

    /// Runs an operation for which polkit may require a password, with the agent running in the meantime.
    static func beside<Value>(
        _ session: Session,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let agent = start(session)
        defer { if let agent { end(agent) } }
        return try await body()
    }

    /// Starts the agent if a user at a terminal calls the system service.
    ///
    /// It returns `nil` in any other case, and if the agent cannot be started. Polkit's error message then says what is
    /// missing.
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
        // Signals that this program handles or ignores terminate the agent as usual.
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
        // The agent closes its end when polkit has registered it, or when it exits.
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
