// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import Foundation
import Glibc
import Testing
import WhorlSecretMemory

@testable import WhorlIPC

/// The kernel counts the memory of a file as that of the process that made it: the service's, wherever the file is.
@Suite(.timeLimit(.minutes(5))) struct `The memory files of answers` {
    /// Asks for a secret of a size, and returns the answer with the file beside it, which is not read.
    private func turned(_ client: RawClient, bytes: Int) -> (text: String, file: Descriptor?)? {
        guard let sent = try? SecretDescriptor.make([UInt8](repeating: 7, count: bytes)) else { return nil }
        let message = Array(#"{"method":"org.example.test.Turn","parameters":{"secret":0}}"#.utf8) + [0]
        let count = message.withUnsafeBytes {
            whorl_send(client.socket.number, $0.baseAddress, $0.count, [sent.number], 1)
        }
        guard count == message.count else { return nil }
        return received(from: client)
    }

    private func received(from client: RawClient) -> (text: String, file: Descriptor?)? {
        var text: [UInt8] = []
        var file: Descriptor?
        while text.last != 0 {
            var place = pollfd(fd: client.socket.number, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, 60_000) == 1 else { return nil }
            var control = whorl_control()
            var room = [UInt8](repeating: 0, count: 4096)
            let count = room.withUnsafeMutableBytes {
                whorl_receive(client.socket.number, $0.baseAddress, $0.count, &control)
            }
            guard count > 0 else { return nil }
            if control.descriptor_count > 0 { file = Descriptor(owning: control.descriptors.0) }
            text += room[..<count]
        }
        return (String(decoding: text.dropLast(), as: UTF8.self), file)
    }

    /// Asks until the service refuses; returns the files, which were not read, and the refusal.
    private func hoarded(_ path: String, bytes: Int, hangingUp: Bool) throws -> (
        files: [Descriptor], refusal: String
    ) {
        var files: [Descriptor] = []
        var client = try RawClient(path)
        for _ in 0..<1000 {
            guard let answer = turned(client, bytes: bytes) else { break }
            guard let file = answer.file else { return (files, answer.text) }
            files.append(file)
            if hangingUp { client = try RawClient(path) }
        }
        return (files, "")
    }

    @Test(arguments: [false, true])
    func `count for the user until no program has them any longer`(hangingUp: Bool) async throws {
        let service = try TestService { $0.descriptorsOfUser = 8 }
        let path = service.path
        try await apart {
            let kept = try hoarded(path, bytes: 16, hangingUp: hangingUp)
            #expect(kept.files.count == 8)
            #expect(kept.refusal.contains("io.whorl.Connection.QuotaReached"))
            // A client that has read them has them all the same, and the kernel keeps something of each.
            for file in kept.files {
                #expect(try SecretDescriptor.read(file).withUnsafeBytes { $0.allSatisfy { $0 == 7 } })
            }
            #expect(try hoarded(path, bytes: 16, hangingUp: hangingUp).files.isEmpty)
        }
        // They were closed, and count no longer.
        try await apart {
            let kept = try hoarded(path, bytes: 16, hangingUp: hangingUp)
            #expect(kept.files.count == 8)
        }
        while service.server.descriptorsHeld(of: geteuid()) > 0 { await Task.yield() }
        #expect(service.server.bytesHeld(of: geteuid()) == 0)
    }

    @Test func `count by their bytes`() async throws {
        let service = try TestService { $0.bytesOfUser = 1 << 20 }
        let path = service.path
        try await apart {
            let kept = try hoarded(path, bytes: 300_000, hangingUp: true)
            #expect(kept.files.count == 3)
            #expect(kept.refusal.contains("QuotaReached"))
        }
    }

    @Test func `can be opened again by no other user, and a copy counts as the file does`() async throws {
        let service = try TestService { $0.descriptorsOfUser = 4 }
        let path = service.path
        try await apart {
            let kept = try hoarded(path, bytes: 16, hangingUp: false).files
            #expect(kept.count == 4)
            var status = stat()
            #expect(fstat(kept[0].number, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let copies = kept.map { Descriptor(owning: dup($0.number)) }
            withExtendedLifetime(copies) {
                #expect((try? hoarded(path, bytes: 16, hangingUp: false).files.isEmpty) == true)
            }
        }
    }

    @Test func `that are read at once are never too many`() async throws {
        let service = try TestService {
            $0.descriptorsOfUser = 8
            $0.bytesOfUser = 1 << 20
        }
        let path = service.path
        try await apart {
            let client = try RawClient(path)
            for _ in 0..<500 {
                let file = try #require(turned(client, bytes: 100_000)?.file)
                let secret = try SecretDescriptor.read(file)
                #expect(secret.withUnsafeBytes { $0.allSatisfy { $0 == 7 } })
            }
        }
    }

    @Test func `are wiped when they were kept too long, and read as an error then`()
        async throws
    {
        let file = try SecretDescriptor.make([UInt8](repeating: 7, count: 9000))
        var lent = LentFiles()
        let given = try lent.lend(file)
        lent.takeBack()
        #expect(lent.size.descriptors == 1)
        lent.wipe(olderThan: .seconds(3600))
        #expect(lent.size.descriptors == 1)
        lent.wipe(olderThan: .zero)
        #expect(lent.size == LentFiles.Size())
        #expect(throws: SecretDescriptor.Fault.wiped) { _ = try SecretDescriptor.read(given) }
    }

    @Test func `are refused at the second of two places that a message names`() async throws {
        let service = try TestService()
        let file = try SecretDescriptor.make([1, 2, 3])
        let client = try service.connect()
        let answer = try? await client.call(
            "org.example.test.TurnTwo",
            ["first": 0, "second": 1],
            descriptors: [file, file],
            returning: TestService.Words.self
        )
        #expect(answer == nil)
        let sparse = Descriptor(owning: whorl_memfd_create("sparse"))
        #expect(ftruncate(sparse.number, 5000) == 0 && whorl_seal_size(sparse.number) == 0)
        #expect(throws: SecretDescriptor.Fault.wiped) { _ = try SecretDescriptor.read(sparse) }
    }
}
