// SPDX-License-Identifier: Apache-2.0

import BlockedPool
import Foundation
import Testing
import WhorlSupport

// Docs/Security.md: S24
@Suite(.timeLimit(.minutes(5))) struct `A file lock` {
    private let folder = URL(filePath: NSTemporaryDirectory() + "whorl-lock-\(UUID().uuidString)")
    private var path: String { folder.path + "/x.lock" }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func tidy() { try? FileManager.default.removeItem(at: folder) }

    private func isHeld() throws -> Bool {
        if case .held = try FileLock.attempt(path) { true } else { false }
    }

    @Test func `is held by one holder at a time, until it is released or let go of`() async throws {
        defer { tidy() }
        let first = try await FileLock.acquire(path, within: .zero)
        #expect(try isHeld())
        first.release()
        var second: FileLock? = try await FileLock.acquire(path, within: .zero)
        #expect(try isHeld())
        second?.write(note: "the second")
        #expect(throws: FileLockError.held("the second")) {
            if case .held(let note) = try FileLock.attempt(path) { throw FileLockError.held(note) }
        }
        second = nil
        #expect(try !isHeld())
    }

    @Test func `ends its wait after the limit, and when its task is cancelled`() async throws {
        defer { tidy() }
        let lock = try await FileLock.acquire(path, within: .zero)
        await #expect(throws: FileLockError.held("")) {
            try await FileLock.acquire(path, within: .milliseconds(30))
        }
        let waiting = Task { [path] in try await FileLock.acquire(path, within: .seconds(600)) }
        waiting.cancel()
        await #expect(throws: FileLockError.cancelled) { try await waiting.value }
        lock.release()
    }

    @Test(arguments: [0o777, 0o200, 0o400] as [mode_t])
    func `can be opened by its owner whatever the umask is`(mask: mode_t) async {
        await #expect(processExitsWith: .success) { [mask] in
            let path = NSTemporaryDirectory() + "/whorl-lock-\(getpid())"
            umask(mask)
            _ = try FileLock.attempt(path)
            var found = stat()
            let isUsable = stat(path, &found) == 0 && found.st_mode & 0o777 == 0o600
            unlink(path)
            exit(isUsable ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `is waited for without a thread of the shared pool`() async {
        await #expect(processExitsWith: .success) {
            let path = NSTemporaryDirectory() + "/whorl-lock-\(getpid())"
            let finished = BlockedPool.run {
                let first = try await FileLock.acquire(path, within: .zero)
                OffPoolTimer.run(after: .milliseconds(50)) { first.release() }
                try await FileLock.acquire(path, within: .seconds(60)).release()
                try await FileLock.acquire(path, within: .seconds(60), endsWithTask: false).release()
            }
            unlink(path)
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `of a parent is not released by the child of a fork`() async throws {
        defer { tidy() }
        let lock = try await FileLock.acquire(path, within: .zero)
        typealias Fork = @convention(c) () -> pid_t
        let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
        let child = fork()
        if child == 0 {
            lock.release()
            _exit(0)
        }
        waitpid(child, nil, 0)
        #expect(try isHeld())
        lock.release()
    }

    @Test(arguments: [
        ("link", FileFault.link), ("folder", .kind(S_IFDIR)), ("pipe", .kind(S_IFIFO)),
        ("open", .mode(0o644)),
    ])
    func `is refused on a file that others could lock, and makes nothing there`(
        kind: String,
        fault: FileFault
    ) throws {
        defer { tidy() }
        switch kind {
        case "link": symlink(path + ".elsewhere", path)
        case "folder": mkdir(path, 0o700)
        case "pipe": mkfifo(path, 0o600)
        default:
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            chmod(path, 0o644)
        }
        #expect(throws: FileLockError.unusable(fault)) { try FileLock.attempt(path) }
        #expect(FileLock.fault(at: path) == fault)
        #expect(!FileManager.default.fileExists(atPath: path + ".elsewhere"))
    }

    @Test func `says what the system refused`() {
        defer { tidy() }
        #expect(throws: FileLockError.system(ENOENT)) { try FileLock.attempt(folder.path + "/none/x.lock") }
    }
}
