// SPDX-License-Identifier: Apache-2.0

import WhorlLogin
import Glibc
import WhorlSecretMemory
import Synchronization
import WhorlSupport

/// A transport that runs the program `whorl-login-http` once for each request and communicates with it over two pipes.
///
/// No part of a request is passed as an argument or a variable, except the name of the certificate file, which is not
/// secret. The network libraries are loaded in that process, not in this one. The process that reads data from a server
/// has no access to the vault or the reader.
struct HelperTransport: LoginTransport {
    private let program: HelperProgram
    private let arguments: [String]

    /// - Parameter authorities: A PEM file of the certificate authorities to trust; `nil` for the system's.
    /// - Throws: An error if the program is not installed.
    init(trusting authorities: String?) throws(Failure) {
        guard let program = HelperProgram(named: "whorl-login-http") else {
            throw Failure(
                code: "incomplete",
                message: "The program whorl-login-http, which is part of Whorl, is missing.",
                recovery: "Reinstall Whorl."
            )
        }
        self.program = program
        arguments = authorities.map { ["--cacert", $0] } ?? []
    }

    func send(_ request: LoginRequest) async throws -> LoginResponse {
        let helper = try Helper(program, arguments)
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
    /// The process ID; `nil` once the process has ended, because the ID may then be reused.
    private let process: Mutex<pid_t?>
    private let input: CInt
    private let output: CInt

    init(_ program: HelperProgram, _ arguments: [String]) throws(LoginTransportError) {
        guard let request = PipeEnds() else { throw .failed }
        guard let answer = PipeEnds() else {
            request.close()
            throw .failed
        }
        let started = program.start(
            arguments,
            passing: [
                .init(request.readEnd, as: STDIN_FILENO), .init(answer.writeEnd, as: STDOUT_FILENO),
            ]
        )
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

    /// Writes the request, reads the entire reply, and waits for the process to exit; blocks the caller.
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
        // Wait for the process first and reap it under the lock, so that its ID is not reused when it is terminated.
        var information = siginfo_t()
        while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return process.withLock { process in
            process = nil
            var status: CInt = 0
            return waitpid(number, &status, 0) == number && status == 0
        }
    }

    /// Terminates the process if it is still running.
    func end() { process.withLock { if let number = $0 { kill(number, SIGTERM) } } }
}
