// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import Foundation
import SoftwareMachine
import Synchronization
import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSupport
import WhorlSystem

@testable import WhorlRemote

@Suite("A search for many values over a socket", .serialized)
struct KeychainPageTests {
    private static let group = "org.example.app"
    private let match = KeychainMatch(.genericPassword, groups: [Self.group])

    private func row(_ number: Int, size: Int) -> NewKeychainRow {
        let record = KeychainRecord(
            .genericPassword,
            accessGroup: Self.group,
            accessible: "ak",
            flags: 0,
            isSynchronizable: false,
            attributes: ["acct": .text("account \(number)"), "svce": .text("service")]
        )
        return NewKeychainRow(record, .plain(Data(repeating: UInt8(truncatingIfNeeded: number), count: size)))
    }

    /// Stores rows, some at a time.
    private func fill(_ keychain: any KeychainRowService, _ count: Int, size: Int) async throws {
        try await blocking { () throws in
            for start in stride(from: 0, to: count, by: 100) {
                let part = (start..<min(start + 100, count)).map { row($0, size: size) }
                guard case .stored = try keychain.add(part, replacing: []) else {
                    throw ServiceError(.storeFailed, "", cause: "not stored")
                }
            }
        }
    }

    private func blocking<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { done in
            requireThread("test") { done.resume(with: Result { try body() }) }
        }
    }

    @Test func `gives 10,000 values as in one process, and the service holds few of them at once`()
        async throws
    {
        let machine = try await RemoteMachine()
        let keychain = machine.services.keychain
        try await fill(keychain, 10_000, size: 4096)
        let match = match
        _ = try await blocking { try keychain.rows(match, withValues: true, limit: 1_000) }
        let before = try machine.child.peak(fromNow: true)
        let found = try await blocking { try keychain.rows(match, withValues: true, limit: .max) }
        let after = try machine.child.peak(fromNow: false)
        #expect(after - before < 6 << 10, "\(before) KiB, then \(after) KiB at the most")
        machine.child.kill()
        await machine.child.waitForEnd()
        let own = InProcessRoot(on: machine.tpm).keychain(in: [Self.group])
        let expected = try await blocking { try own.rows(match, withValues: true, limit: .max) }
        #expect(found.count == 10_000 && found == expected)
    }

    @Test(arguments: [2, 33, 100, 5_000])
    func `gives the same rows in the same order as in one process, whatever the limit is`(limit: Int)
        async throws
    {
        let machine = try await HostMachine(enrolled: nil)
        try await fill(machine.services.keychain, 200, size: 8)
        let own = InProcessRoot(on: machine.tpm).keychain(in: [Self.group])
        let (remote, match) = (machine.services.keychain, match)
        let found = try await blocking { try remote.rows(match, withValues: true, limit: limit) }
        let expected = try await blocking { try own.rows(match, withValues: true, limit: limit) }
        #expect(found.count == min(limit, 200) && found == expected)
    }

    // Docs/Security.md: C13c
    @Test func `gives long attributes in messages that are not too long, and takes no longer ones`()
        async throws
    {
        let machine = try await HostMachine(enrolled: nil)
        let keychain = machine.services.keychain
        @Sendable func row(_ number: Int, _ size: Int) -> NewKeychainRow {
            var row = self.row(number, size: 8)
            // In JSON each of these takes six bytes.
            let long = String(repeating: "\u{1}", count: 60 << 10)
            row.record.attributes["svce"] = .text(long)
            row.record.attributes["labl"] = .text(String(repeating: "\u{2}", count: size))
            return row
        }
        try await blocking { () throws in
            for number in 0..<40 {
                guard case .stored = try keychain.add([row(number, 60 << 10)], replacing: []) else {
                    throw ServiceError(.storeFailed, "", cause: "not stored")
                }
            }
        }
        let match = match
        for withValues in [true, false] {
            let found = try await blocking { try keychain.rows(match, withValues: withValues, limit: .max) }
            #expect(found.map(\.record.attributes["acct"]) == (0..<40).map { .text("account \($0)") })
            #expect(found.allSatisfy { $0.record.size > 120 << 10 })
        }
        await #expect(throws: ServiceError.self) {
            try await blocking { try keychain.add([row(40, 70 << 10)], replacing: []) }
        }
    }

    @Test func `leaves out what is deleted before it was sent, and gives nothing twice`() async throws {
        let machine = try await HostMachine(enrolled: nil)
        let keychain = machine.services.keychain
        try await fill(keychain, 300, size: 64)
        let (match, transport) = (match, machine.transport)
        let all = try await blocking { try keychain.rows(match, withValues: false, limit: .max) }
        let found = try await blocking { () throws -> [Int64] in
            var call = BlockingCall(try transport.connect())
            var ids: [Int64] = []
            _ = try call.call(
                KeychainInterface.Find.name,
                KeychainInterface.Find(
                    groups: [Self.group],
                    match: match,
                    withValues: true,
                    limit: .max
                ),
                returning: Valued<[WireRow]>.self
            ) { update throws(ServiceCallError) in
                if ids.isEmpty {
                    // The service waits with its third message until this one was read.
                    for row in all.suffix(100) {
                        var one = match
                        one.id = row.id
                        guard (try? keychain.delete([one])) == 1 else { throw .malformed }
                    }
                }
                ids += update.parameters.value.compactMap(\.version?.id)
            }
            return ids
        }
        #expect(found == all.dropLast(100).map(\.id))
    }
}

extension ChildProcess {
    /// The most resident memory in KiB that the process had since the last call with `fromNow`.
    fileprivate func peak(fromNow: Bool) throws -> Int {
        if fromNow { try Data("5".utf8).write(to: URL(filePath: "/proc/\(number)/clear_refs")) }
        let status = try String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return Int(line?.split(separator: " ").dropFirst().first ?? "") ?? 0
    }
}
