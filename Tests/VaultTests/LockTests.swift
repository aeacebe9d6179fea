// SPDX-License-Identifier: Apache-2.0

import BlockedPool
import Foundation
import WhorlStateStore
import Testing
import WhorlService
import WhorlSupport

@testable import WhorlVault

// Docs/Security.md: S24
@Suite struct `The vault's lock` {
    @Test func `is waited for while every thread of the shared pool is blocked`() async {
        await #expect(processExitsWith: .success) {
            let directory = try Self.directory()
            defer { try? FileManager.default.removeItem(atPath: directory.path) }
            let finished = BlockedPool.run {
                let first = try await VaultLock.acquire(directory)
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.05)
                    first.release()
                }
                try await VaultLock.acquire(directory).release()
            }
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `is waited for by a cancelled task too`() async throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: directory.path) }
        let first = try await VaultLock.acquire(directory)
        let second = Task { try await VaultLock.acquire(directory).release() }
        second.cancel()
        first.release()
        try await second.value
    }

    @Test func `on a file that was removed excludes the holder of a new one`() async throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: directory.path) }
        let old = try await VaultLock.acquire(directory)
        let waiting = Task { try await VaultLock.acquire(directory) }
        try await Task.sleep(for: .milliseconds(50))
        try FileManager.default.removeItem(atPath: directory.file("vault.lock"))
        let new = try await VaultLock.acquire(directory)
        old.release()
        // It waited for the file that is gone, and must not take that for the lock now.
        let late = Task { try await waiting.value.release() }
        try await Task.sleep(for: .milliseconds(100))
        switch try FileLock.attempt(directory.file("vault.lock")) {
        case .held: break
        case .taken: Issue.record("the new holder has no lock")
        }
        new.release()
        try await late.value
    }

    @Test(arguments: ["link", "directory", "open"])
    func `is refused on a file that is not the owner's alone`(kind: String) async throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: directory.path) }
        let path = directory.file("vault.lock")
        switch kind {
        case "link": symlink(path + ".elsewhere", path)
        case "directory": mkdir(path, 0o700)
        default:
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            chmod(path, 0o666)
        }
        await #expect(throws: ServiceError.self) { try await VaultLock.acquire(directory) }
        #expect(!FileManager.default.fileExists(atPath: path + ".elsewhere"))
    }

    private static func directory() throws -> StateDirectory {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vault-lock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return StateDirectory(path: folder.path)
    }
}
