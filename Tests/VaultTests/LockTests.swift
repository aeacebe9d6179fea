// SPDX-License-Identifier: Apache-2.0

import BlockedPool
import Foundation
import StateStore
import Testing

@testable import Vault

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

    private static func directory() throws -> StateDirectory {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vault-lock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return StateDirectory(path: folder.path)
    }
}
