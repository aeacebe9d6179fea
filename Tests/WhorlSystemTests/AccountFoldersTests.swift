// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlStateStore
import Synchronization
import Testing
import WhorlService
import WhorlSupport

@testable import WhorlSystem

// Docs/Security.md: C17
/// The user database of a test.
private final class Database: Sendable {
    private let answers = Mutex<[UInt32: AccountLookup]>([:])

    func set(_ number: UInt32, _ answer: AccountLookup) { answers.withLock { $0[number] = answer } }
    func lookup(_ number: UInt32) -> AccountLookup { answers.withLock { $0[number] ?? .missing } }
}

@Suite struct `The state folder of an account` {
    private let root = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID())").path
    private let database = Database()
    private let anna = SystemAccount(number: 1001, name: "anna", group: 1001, home: "/home/anna")
    private var folders: AccountFolders { AccountFolders(root) { [database] in database.lookup($0) } }

    init() throws { try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) }

    /// Makes anna's folder with a database, as at her first enrollment.
    private func enroll() throws {
        let folder = folders.directory(of: anna.number)
        try PrivateFiles.makeDirectory(folder.path)
        try AccountTrust(anna, in: folder).begin()
        try Data("fingers".utf8).write(to: URL(filePath: folder.file("whorl.sqlite")))
        database.set(anna.number, .found(anna))
    }

    private func account(_ name: String, home: String = "/home/anna", group: UInt32 = 1001) -> SystemAccount {
        SystemAccount(number: anna.number, name: name, group: group, home: home)
    }

    private func fault() -> ServiceError? {
        do throws(ServiceError) {
            _ = try folders.resident(anna.number)
            return nil
        } catch { return error }
    }

    @Test func `is used by its account`() throws {
        try enroll()
        let resident = try folders.resident(anna.number)
        #expect(resident == .init(account: anna, profile: "anna", isRenamed: false))
    }

    // Docs/Security.md: S4
    @Test func `keeps its rows after a rename, and trusts no fingers until confirmed`() throws {
        try enroll()
        let renamed = account("ada.smith")
        database.set(anna.number, .found(renamed))
        #expect(
            try folders.resident(anna.number) == .init(account: renamed, profile: "anna", isRenamed: true)
        )
        let trust = AccountTrust(renamed, in: folders.directory(of: anna.number))
        trust.note(renamed, isRenamed: true)
        #expect(trust.isRenamed)
        try trust.confirm()
        #expect(!trust.isRenamed)
        #expect(
            try folders.resident(anna.number) == .init(account: renamed, profile: "anna", isRenamed: false)
        )
        // Back again: the name is another one than the last that was confirmed.
        database.set(anna.number, .found(anna))
        #expect(try folders.resident(anna.number).isRenamed)
    }

    @Test(arguments: [
        ("bob", "/home/bob", UInt32(1001)), ("bob", "/home/anna", 1002), ("bob", "/nonexistent", 1001),
    ])
    func `gives another account with its number nothing`(_ name: String, _ home: String, _ group: UInt32)
        throws
    {
        try enroll()
        database.set(anna.number, .found(account(name, home: home, group: group)))
        let refusal = try #require(fault())
        #expect(refusal.message.contains("anna") && refusal.recovery.contains("whorl account remove 1001"))
        #expect(try folders.all().map(\.state) == [.other])
    }

    @Test func `of accounts with a home that many have is no one's after a change of the name`() throws {
        let daemon = SystemAccount(number: 1001, name: "anna", group: 1001, home: "/nonexistent")
        #expect(AccountMark(daemon).standing(of: account("bob", home: "/nonexistent")) == .other)
    }

    @Test func `of root is root's, whatever it is called`() throws {
        let folder = folders.directory(of: 0)
        try PrivateFiles.makeDirectory(folder.path)
        try AccountTrust(SystemAccount(number: 0, name: "root", group: 0, home: "/root"), in: folder).begin()
        let renamed = SystemAccount(number: 0, name: "admin", group: 0, home: "/srv/admin")
        database.set(0, .found(renamed))
        #expect(try folders.resident(0) == .init(account: renamed, profile: "root", isRenamed: false))
    }

    @Test func `is neither used nor changed while the user database does not answer`() throws {
        try enroll()
        database.set(anna.number, .unavailable(ENOENT))
        #expect(fault()?.cause.contains("getpwuid_r") == true)
        #expect(throws: ServiceError.self) { try folders.requireFormer(anna.number) }
        #expect(try folders.all().map(\.state) == [.unknown])
        database.set(anna.number, .found(anna))
        #expect(fault() == nil)
    }

    @Test func `of a number without an account is not made`() throws {
        #expect(fault()?.cause == "no account")
        #expect(!FileManager.default.fileExists(atPath: folders.directory(of: anna.number).path))
    }

    @Test func `without a mark is given to no one`() throws {
        try enroll()
        try FileManager.default.removeItem(atPath: folders.directory(of: anna.number).file("account"))
        #expect(fault()?.cause == "another account")
    }

    @Test(arguments: ["", "anna", "anna:anna:x:/home\n", "::1:/home\n", "anna:anna:1001:/home/anna"])
    func `with a mark that is none is an error, and never another account's`(_ text: String) throws {
        try enroll()
        try Data(text.utf8).write(to: URL(filePath: folders.directory(of: anna.number).file("account")))
        #expect(fault()?.code == .storeDamaged)
    }

    @Test func `whose mark is missing or cannot be read is removed with what the TPM counts for it`() throws {
        #expect(folders.former(anna.number) == nil)
        try enroll()
        #expect(
            folders.former(anna.number)
                == AccountFolders.Former(account: anna, profile: "anna", doubt: nil)
        )
        let mark = folders.directory(of: anna.number).file("account")
        try Data("anna".utf8).write(to: URL(filePath: mark))
        let unreadable = try #require(folders.former(anna.number))
        #expect(unreadable.account.number == anna.number)
        #expect(unreadable.doubt?.contains("cannot be read") == true, "\(unreadable)")
        try FileManager.default.removeItem(atPath: mark)
        #expect(folders.former(anna.number)?.doubt?.contains("missing") == true)
    }

    @Test func `is removed only after its account is gone, and then as a whole`() throws {
        try enroll()
        #expect(throws: ServiceError.self) { try folders.requireFormer(anna.number) }
        database.set(anna.number, .missing)
        try folders.requireFormer(anna.number)
        try folders.discard(anna.number)
        #expect(try FileManager.default.contentsOfDirectory(atPath: root).isEmpty)
    }

    @Test func `whose account userdel has deleted serves no one before it is removed`() throws {
        try enroll()
        try FileManager.default.createSymbolicLink(
            atPath: root + "/removed-1001",
            withDestinationPath: "anna"
        )
        // An account of the same name and number, made in the meantime, is another one.
        #expect(fault()?.code == .storeBusy)
        #expect(try folders.spooled() == [1001])
        try folders.discard(anna.number)
        #expect(fault() == nil)
        #expect(try folders.spooled().isEmpty)
    }

    @Test func `whose removal was killed in the middle is removed at the next start`() throws {
        try enroll()
        try folders.spool(anna.number)
        try folders.spool(anna.number)
        #expect(fault()?.code == .storeBusy)
        #expect(try folders.spooled() == [1001])
        try folders.discard(anna.number)
        #expect(fault() == nil)
        try enroll()
        try FileManager.default.moveItem(atPath: root + "/1001", toPath: root + "/.removing-1001-5")
        folders.emptyTrash()
        #expect(try FileManager.default.contentsOfDirectory(atPath: root).isEmpty)
    }
}
