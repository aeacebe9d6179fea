// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import Glibc
internal import Synchronization

/// A program that a test starts.
///
/// It gets its three streams and no other open file of the tests.
/// Foundation's `Process` lists what is open, starts the program, and has it close what was listed. What another thread
/// opens in between stays open in the program: a connection of tpm2-tss, which does not close on exec, then does not end
/// when its test closes it. The TPM serves one connection after the other, so that test would wait for the end of a
/// program of another test.
///
/// Unchecked: the settings are made before ``start()``, the rest is behind a lock.
package final class ChildProgram: @unchecked Sendable {
    /// The executable.
    package var executableURL: URL?
    /// The arguments after the program's name.
    package var arguments: [String] = []
    /// The environment variables; `nil` passes those of this process.
    package var environment: [String: String]?
    /// The working directory; `nil` for that of this process.
    package var currentDirectoryURL: URL?
    /// The streams; `nil` passes those of this process.
    package var standardInput, standardOutput, standardError: FileHandle?

    private enum State {
        case new
        case runs(pid_t)
        case ended(pid_t, status: CInt)
    }
    private let state = Mutex(State.new)
    private let end = DispatchGroup()

    package init() {}

    /// Starts the program.
    ///
    /// - Throws: ``Failure`` when it cannot be started.
    package func start() throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [standardInput, standardOutput, standardError].enumerated() {
            guard let stream else { continue }
            if stream === FileHandle.nullDevice {
                posix_spawn_file_actions_addopen(&actions, CInt(number), "/dev/null", O_RDWR, 0)
            } else {
                posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, CInt(number))
            }
        }
        try Self.close(from: 3, &actions)
        if let currentDirectoryURL { try Self.move(to: currentDirectoryURL.path, &actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))

        let path = executableURL?.path ?? ""
        let given = environment ?? ProcessInfo.processInfo.environment
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = given.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let fault = posix_spawn(&process, path, &actions, &attributes, &words, &variables)
        guard fault == 0 else { throw Failure(number: fault) }
        state.withLock { $0 = .runs(process) }
        end.enter()
        // Reap it immediately: Swift Testing waits for the end of any child, and would find this one again and again.
        Thread.detachNewThread { [self, process] in
            wait(for: process)
            end.leave()
        }
    }

    private typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>

    private static func close(from number: CInt, _ actions: Actions) throws {
        typealias Call = @convention(c) (Actions, CInt) -> CInt
        let call = function("posix_spawn_file_actions_addclosefrom_np", as: Call.self)
        guard let call else { throw Failure(number: ENOSYS) }
        _ = call(actions, number)
    }

    private static func move(to folder: String, _ actions: Actions) throws {
        typealias Call = @convention(c) (Actions, UnsafePointer<CChar>) -> CInt
        let call = function("posix_spawn_file_actions_addchdir_np", as: Call.self)
        guard let call else { throw Failure(number: ENOSYS) }
        _ = call(actions, folder)
    }

    /// A function of the C library that Swift does not know.
    ///
    /// The login server's tests use this file as well, and no module of Whorl's that has such a function.
    private static func function<Call>(_ name: String, as _: Call.Type) -> Call? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Call.self) }
    }

    /// Why a program does not start (errno).
    package struct Failure: Error { package let number: Int32 }

    /// Waits until the program has ended, and takes its number in the same step as it becomes free.
    private func wait(for process: pid_t) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let status = info._sifields._sigchld.si_status
        state.withLock { state in
            while waitpid(process, nil, 0) < 0, errno == EINTR {}
            state = .ended(process, status: info.si_code == CLD_EXITED ? status : -status)
        }
    }

    /// Waits until the program has ended, and returns its exit status, or the negative number of its signal.
    @discardableResult
    package func waitForEnd() -> CInt {
        end.wait()
        if case .ended(_, let status) = state.withLock({ $0 }) { return status }
        preconditionFailure("the program was not started")
    }

    /// Whether the program was started and has not ended.
    package var isRunning: Bool {
        if case .runs = state.withLock({ $0 }) { true } else { false }
    }

    /// The number of the process, also after its end; 0 before its start.
    package var processIdentifier: Int32 {
        switch state.withLock({ $0 }) {
        case .new: 0
        case .runs(let process), .ended(let process, _): process
        }
    }

    /// Sends a signal, unless the program has ended.
    package func send(_ signal: CInt) {
        state.withLock { if case .runs(let process) = $0 { kill(process, signal) } }
    }
}
