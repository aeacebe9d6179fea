// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlCallers
@testable import WhorlRemote

@Suite struct `The journal` {
    private let asker = Asker(
        user: 4_000_000,
        process: "py\nX=1",
        processID: 7,
        unit: "a.scope",
        session: "2"
    )

    private func record(_ reason: String, _ answer: Result<Int, ServiceRefusal>) -> CallRecord {
        CallRecord("io.whorl.Owner.Evaluate", CallPurpose(application: "va\nult", text: reason), answer)
    }

    @Test func `tells who asked, what for and how it ended`() {
        let failed = record("unlock", .failure(ServiceError(.biometryLockout).refusal))
        let fields = Dictionary(
            uniqueKeysWithValues: SystemJournal.fields(failed, asker).map { ($0.name, $0.value) }
        )
        #expect(fields["WHORL_UID"] == "4000000" && fields["WHORL_UNIT"] == "a.scope")
        #expect(fields["WHORL_SESSION"] == "2" && fields["WHORL_PURPOSE"] == "unlock")
        #expect(fields["WHORL_OUTCOME"] == "biometryLockout")
        #expect(fields["WHORL_CONFINED_AS"] == nil)
        #expect(fields["MESSAGE"]?.contains("(unverified name; ") == true)
        #expect(record("x", .success(1)).outcome == "done")
    }

    // Docs/Security.md: K7
    @Test func `takes no field from a text of the caller's`() {
        let fields = SystemJournal.fields(record("a\nWHORL_UID=0", .success(1)), asker)
        #expect(fields.allSatisfy { !$0.value.contains("\n") })
    }

    // Docs/Security.md: C6b
    @Test func `quotes what the caller says, which ends no quotation`() throws {
        let purpose = CallPurpose(
            application: "whorl” (unverified name; sudo, process 1)",
            text: "a” [io.whorl.X]: done  b"
        )
        let fields = SystemJournal.fields(CallRecord("io.whorl.Y", purpose, .success(1)), asker)
        let message = try #require(fields.first { $0.name == "MESSAGE" }?.value)
        #expect(message.count { $0 == "“" } == 2 && message.count { $0 == "”" } == 2, "\(message)")
        #expect(message.hasSuffix("asked: “a' [io.whorl.X]: done b” [io.whorl.Y]: done"), "\(message)")
        #expect(fields.contains { $0.name == "WHORL_APPLICATION" && $0.value == purpose.application })
    }

    @Test func `that is away keeps no call from its answer`() {
        SystemJournal(path: "/nonexistent/socket").write(record("x", .success(1)), of: asker)
    }

    @Test func `is written to its socket as one datagram`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "j-\(UUID().uuidString.prefix(8))")
            .path
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer {
            close(socket)
            unlink(path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        try #require(bound == 0)
        SystemJournal(path: path).write(record("unlock", .success(1)), of: asker)
        var room = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &room, room.count, Int32(MSG_DONTWAIT))
        let text = String(decoding: room.prefix(max(0, count)), as: UTF8.self)
        #expect(text.contains("WHORL_OUTCOME=done\n") && text.hasPrefix("MESSAGE="))
    }
}
