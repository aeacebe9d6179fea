// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc
import KeyringQuestion
import MainThread
import WhorlSecretMemory

/// A program with a window for one question.
@MainActor
final class KeyringDialog {
    /// The user's answer.
    struct Answer: Sendable {
        let isYes: Bool
        let isChosen: Bool
        /// The typed password; `nil` if none was asked for.
        let password: SecretBox?
    }

    private var process: pid_t?

    /// Shows a question.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - then: Called with the answer; `nil` if the program has ended without one.
    /// - Returns: The dialog; `nil` if it cannot be shown.
    static func show(
        _ question: KeyringQuestion,
        then: @escaping @MainActor @Sendable (Answer?) -> Void
    ) -> KeyringDialog? {
        guard let line = question.line, let pipes = Pipes() else { return nil }
        guard let process = start(pipes) else {
            pipes.closeAll()
            return nil
        }
        pipes.closeChildEnds()
        let dialog = KeyringDialog(process)
        let (input, output, isConfirmation) = (pipes.input, pipes.output, question.kind == .confirmation)
        // Not a task: it would keep one of the few threads on which tasks run.
        let isStarted = startThread {
            let answer = talk(line, to: input, from: output, isConfirmation)
            onMainThread {
                dialog.reap()
                then(answer)
            }
        }
        guard isStarted else {
            Glibc.close(input)
            Glibc.close(output)
            dialog.close()
            return nil
        }
        return dialog
    }

    private init(_ process: pid_t) { self.process = process }

    /// Closes the window; the answer is then `nil`.
    func close() { if let process { kill(process, SIGTERM) } }

    /// Ends the program, which has said everything.
    private func reap() {
        guard let process else { return }
        self.process = nil
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Starts the program beside this one.
    private static func start(_ pipes: Pipes) -> pid_t? {
        guard let own = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(own) }
        let program = String(cString: own) + "-dialog"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipes.childInput, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, pipes.childOutput, STDOUT_FILENO)
        var words = [strdup(program), nil]
        defer { free(words[0]) }
        var process: pid_t = 0
        let failure = posix_spawn(&process, program, &actions, nil, &words, environ)
        if failure != 0 {
            Program.write("Cannot show a window: \(program): \(String(cString: strerror(failure)))")
        }
        return failure == 0 ? process : nil
    }

    /// Passes the question to the program, and reads its answer.
    private nonisolated static func talk(
        _ line: [UInt8],
        to input: Int32,
        from output: Int32,
        _ isConfirmation: Bool
    ) -> Answer? {
        // The line fits into the pipe. If the program has ended, nothing can be read below.
        _ = write(input, line, line.count)
        Glibc.close(input)
        defer { Glibc.close(output) }
        let form = KeyringAnswerForm.self
        var count = 0
        let bytes = SecretBytes(count: form.start + form.longestPassword) { room in
            while count < room.count {
                let more = read(output, room.baseAddress?.advanced(by: count), room.count - count)
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { break }
                count += more
            }
        }
        guard count >= form.start else { return nil }
        return bytes.withUnsafeBytes { bytes in
            let isYes = bytes[0] == form.yes
            let password = UnsafeRawBufferPointer(rebasing: bytes[form.start..<count])
            let box = isYes && !isConfirmation ? SecretBox(SecretBytes(copying: password.bytes)) : nil
            return Answer(isYes: isYes, isChosen: bytes[1] == form.yes, password: box)
        }
    }
}

/// The pipes to and from a program.
private struct Pipes {
    let childInput, input, output, childOutput: Int32

    init?() {
        var (first, second): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard g_unix_open_pipe(&first, FD_CLOEXEC, nil) != 0 else { return nil }
        guard g_unix_open_pipe(&second, FD_CLOEXEC, nil) != 0 else {
            close(first[0])
            close(first[1])
            return nil
        }
        (childInput, input, output, childOutput) = (first[0], first[1], second[0], second[1])
    }

    func closeChildEnds() {
        close(childInput)
        close(childOutput)
    }

    func closeAll() {
        closeChildEnds()
        close(input)
        close(output)
    }
}

/// Calls a function on a new thread; returns `false` if the system cannot create one.
private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let run: GThreadFunc = { data in
        if let data { Unmanaged<ThreadBody>.fromOpaque(data).takeRetainedValue().body() }
        return nil
    }
    let handed = Unmanaged.passRetained(ThreadBody(body))
    guard let thread = g_thread_try_new("dialog", run, handed.toOpaque(), nil) else {
        handed.release()
        return false
    }
    g_thread_unref(thread)
    return true
}

/// A function for a thread.
private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
