// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Glibc
import SecretMemory
import Synchronization
import WhorlSupport

/// A transport that runs the program `whorl-login-http` for each request: one process, one request, over two pipes.
///
/// No part of a request is an argument or a variable. The network's libraries are loaded in that process and not in
/// this one, and the process that reads a server's bytes has access neither to the vault nor to the reader.
struct HelperTransport: LoginTransport {
    private let program: String

    /// - Throws: an error if the program is missing.
    init() throws(Failure) {
        guard let program = Self.candidates().first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                code: "incomplete",
                rawValue: nil,
                status: .failure,
                message: "The program whorl-login-http, which belongs to this one, is missing.",
                reason: "",
                recovery: "Install Whorl again as a whole."
            )
        }
        self.program = program
    }

    /// Returns the paths to try: beside this program, as it is built, or the installed place; never from the PATH.
    private static func candidates() -> [String] {
        guard let folder = ThisProcess.folder else { return [] }
        return [folder + "/whorl-login-http", folder + "/../libexec/whorl/whorl-login-http"]
    }

    func send(_ request: LoginRequest) async throws -> LoginResponse {
        let helper = try Helper(program)
        let frame = LoginFrames.encode(request)
        return try await withTaskCancellationHandler {
            await onThread("whorl-login") { helper.exchange(frame) }
                ?? SecretBox(SecretBytes(count: 0) { _ in })
        } onCancel: {
            helper.end()
        }.outcome(isCancelled: Task.isCancelled).get()
    }
}

extension SecretBox {
    fileprivate func outcome(isCancelled: Bool) -> Result<LoginResponse, LoginTransportError> {
        if isCancelled { return .failure(.cancelled) }
        return bytes.count == 0 ? .failure(.failed) : LoginFrames.outcome(self)
    }
}

/// One run of the program.
private final class Helper: Sendable {
    /// The process number; `nil` once it has ended, since another process may have the number then.
    private let process: Mutex<pid_t?>
    private let input: CInt
    private let output: CInt

    init(_ program: String) throws(LoginTransportError) {
        guard let request = PipeEnds() else { throw .failed }
        guard let answer = PipeEnds() else {
            request.close()
            throw .failed
        }
        let started = Self.start(program, reading: request.readEnd, writing: answer.writeEnd)
        close(request.readEnd)
        close(answer.writeEnd)
        input = request.writeEnd
        output = answer.readEnd
        process = Mutex(started)
        guard started != nil else {
            close(input)
            close(output)
            throw .failed
        }
    }

    /// Starts the program with these two ends as its standard input and output; it closes all other inherited
    /// descriptors.
    private static func start(_ program: String, reading: CInt, writing: CInt) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The helper has a group of its own: ^C reaches this program, which then ends the helper.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var process: pid_t = 0
        guard let name = strdup(program) else { return nil }
        defer { free(name) }
        var arguments: [UnsafeMutablePointer<CChar>?] = [name, nil]
        return posix_spawn(&process, program, &actions, &attributes, &arguments, environ) == 0 ? process : nil
    }

    /// Writes the request, reads the reply to its end, and waits for the process; blocks the caller.
    ///
    /// - Returns: The reply of the process; empty if it failed.
    func exchange(_ frame: SecretBox) -> SecretBox {
        frame.bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                // SIGPIPE is ignored: a missing reply shows that the process ended early.
                let count = write(input, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                guard count > 0 || errno == EINTR else { break }
                done += max(0, count)
            }
        }
        close(input)
        var room = SecretBuffer(capacity: LoginFrames.largest)
        while room.count < room.capacity {
            let count = room.append { read(output, $0.baseAddress, $0.count) }
            guard count > 0 || (count < 0 && errno == EINTR) else { break }
        }
        close(output)
        return wait() ? SecretBox(room.take()) : SecretBox(SecretBytes(count: 0) { _ in })
    }

    private func wait() -> Bool {
        guard let number = process.withLock(\.self) else { return false }
        // The process is waited for first and reaped under the lock, so that its number is not another's when it is
        // ended.
        var information = siginfo_t()
        while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return process.withLock { process in
            process = nil
            var status: CInt = 0
            return waitpid(number, &status, 0) == number && status == 0
        }
    }

    /// Ends the process if it is still running.
    func end() { process.withLock { if let number = $0 { kill(number, SIGTERM) } } }
}
