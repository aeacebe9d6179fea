// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import Foundation
import Glibc
import Testing
import WhorlFingerprint

import WhorlUSB

// Docs/Security.md: C1a
/// Who can open a device node, measured at files that stand in for one.
@Suite struct `The access to a node` {
    private let path = NSTemporaryDirectory() + "whorl-node-" + UUID().uuidString
    private var node: DeviceNode { DeviceNode(path, service: geteuid()) }

    init() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try set(0o600)
    }

    @Test func `is closed where only the service has it`() {
        #expect(node.access() == ReaderAccess(.closed))
    }

    @Test(arguments: [0o604, 0o602, 0o666] as [mode_t])
    func `is open to everyone by the mode`(mode: mode_t) throws {
        try set(mode)
        #expect(node.access().state == .open)
        #expect(node.access().details.contains("everyone"))
    }

    @Test func `is open to a group, which is named`() throws {
        chown(path, geteuid(), 12345)
        try set(0o660)
        guard geteuid() == 0 else { return }
        #expect(node.access() == ReaderAccess(.open, ["the group 12345"]))
    }

    @Test func `is open to an owner other than the service`() {
        let node = DeviceNode(path, service: nil)
        #expect(node.access().state == (geteuid() == 0 ? .closed : .open))
    }

    @Test func `is open to a user whom the ACL names`() throws {
        try set(list: [(1, 6, nil), (2, 6, 4711), (4, 0, nil), (0x10, 6, nil), (0x20, 0, nil)])
        #expect(node.access() == ReaderAccess(.open, ["the user 4711"]))
    }

    @Test func `is open to a group that the ACL names`() throws {
        try set(list: [(1, 6, nil), (4, 0, nil), (8, 4, 4711), (0x10, 6, nil), (0x20, 0, nil)])
        #expect(node.access() == ReaderAccess(.open, ["the group 4711"]))
    }

    @Test func `is closed where the ACL's mask leaves nothing of an entry`() throws {
        try set(list: [(1, 6, nil), (2, 6, 4711), (4, 0, nil), (0x10, 0, nil), (0x20, 0, nil)])
        #expect(node.access() == ReaderAccess(.closed))
    }

    @Test func `is unknown, and never closed, where the node cannot be looked at`() {
        let access = DeviceNode(path + "-missing", service: geteuid()).access()
        #expect(access.state == .unknown)
        #expect(access.details.first?.contains("No such file") == true)
    }

    private func set(_ mode: mode_t) throws { try #require(chmod(path, mode) == 0) }

    private func set(list: [(tag: UInt16, permissions: UInt16, id: UInt32?)]) throws {
        var bytes: [UInt8] = [2, 0, 0, 0]
        for (tag, permissions, id) in list {
            for number in [tag, permissions] { bytes += [UInt8(number & 0xff), UInt8(number >> 8)] }
            let id = id ?? .max
            bytes += (0..<4).map { UInt8((id >> (8 * $0)) & 0xff) }
        }
        try #require(setxattr(path, "system.posix_acl_access", bytes, bytes.count, 0) == 0)
    }
}
