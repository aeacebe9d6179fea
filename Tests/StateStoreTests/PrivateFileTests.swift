// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WhorlSecretMemory
import Testing

@testable import WhorlStateStore
import WhorlService

// Docs/Security.md: S26
struct PrivateFileTests {
    private let home: TemporaryDirectory
    private var folder: String { home.state.path }
    private var path: String { home.file("state.key") }

    init() throws {
        home = try TemporaryDirectory()
        mkdir(home.state.path, 0o700)
    }

    /// A second name would stay after a crash, and would outlive the key's removal.
    @Test func `a new key has one name from the beginning`() throws {
        let watch = inotify_init1(O_NONBLOCK)
        defer { close(watch) }
        #expect(inotify_add_watch(watch, folder, UInt32(IN_CREATE) | UInt32(IN_DELETE)) >= 0)
        #expect(try PrivateFiles.publish(SecretBytes(randomCount: 32), as: path, in: folder))
        var events = [UInt8](repeating: 0, count: 4096)
        let count = read(watch, &events, events.count)
        // One event of 16 bytes and a name of 16.
        #expect(count == 32)
        #expect(String(decoding: events[16..<25], as: UTF8.self) == "state.key")
        #expect(mode(path) == 0o600)
        #expect(try PrivateFiles.read(path, atMost: 32)?.count == 32)
        #expect(try !PrivateFiles.publish(SecretBytes(randomCount: 32), as: path, in: folder))
    }

    @Test func `removing a key removes the second name that a crash left, and no other file`() throws {
        _ = try PrivateFiles.publish(SecretBytes(randomCount: 32), as: path, in: folder)
        let second = PrivateFiles.temporaryName(beside: path)
        #expect(link(path, second) == 0)
        let another = PrivateFiles.temporaryName(beside: path)
        close(try PrivateFiles.createExclusively(another))
        try PrivateFiles.remove(path, in: folder)
        #expect(try contents(of: folder).keys.sorted() == [URL(filePath: another).lastPathComponent])
    }

    @Test func `a file that is cut while it is read is a failure of the system, whatever failed before`() {
        var ends: [CInt] = [-1, -1]
        #expect(pipe(&ends) == 0)
        write(ends[1], "abc", 3)
        close(ends[1])
        defer { close(ends[0]) }
        var room = [UInt8](repeating: 0, count: 4)
        errno = ENOSPC
        let error = #expect(throws: ServiceError.self) {
            try room.withUnsafeMutableBytes { try PrivateFiles.fill($0, from: ends[0], "x") }
        }
        #expect(error?.code == .storeFailed)
        #expect(error?.cause.contains("errno \(EIO)") == true)
    }
}
