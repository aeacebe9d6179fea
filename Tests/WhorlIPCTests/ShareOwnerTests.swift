// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WhorlIPC

// Docs/Security.md: C13i
@Suite struct `The share that a connection of root's takes` {
    @Test(
        arguments: [
            ("0::/user.slice/user-1001.slice/session-4.scope\n", .user(1001)),
            (
                "0::/user.slice/user-1001.slice/user@1001.service/app.slice/user-1000.slice/x.scope\n",
                .user(1001)
            ),
            (
                "12:pids:/user.slice/user-7.slice\n1:name=systemd:/user.slice/user-7.slice/session-1.scope\n0::/\n",
                .user(7)
            ),
            ("0::/system.slice/ssh.service\n", .system),
            (
                #"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@3-7-812_4711-1000.service"#
                    + "\n",
                .user(1000)
            ),
            ("0::/system.slice/polkit-agent-helper@x.service\n", .system),
            ("0::/system.slice/polkit-agent-helper@1-.service\n", .system),
            (
                "0::/user.slice/user-1001.slice/user@1001.service/app.slice/polkit-agent-helper@1-2-3-1000.service\n",
                .user(1001)
            ),
            ("0::/user.slice/user-x.slice/user-.slice\n", .system),
            ("0::/\n", .system),
        ] as [(String, ShareOwner.Slice)]
    )
    func `is the one of the account in whose slice its process runs`(
        _ text: String,
        _ slice: ShareOwner.Slice
    ) throws {
        #expect(ShareOwner.Slice(controlGroups: text) == slice)
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-proc-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "5"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(text.utf8).write(to: folder.appending(path: "5/cgroup"))
        #expect(ShareOwner.Slice(ofProcess: 5, in: folder.path) == slice)
        #expect(ShareOwner.Slice(ofProcess: 6, in: folder.path) == .unknown)
    }

    @Test func `counts for other users by their number alone`() {
        let own = PeerUser(uid: 1001, gid: 1001, pid: getpid())
        #expect(ShareOwner(of: own).slice == .system)
        #expect(ShareOwner(of: PeerUser(uid: 0, gid: 0, pid: .max)).slice == .unknown)
    }
}
