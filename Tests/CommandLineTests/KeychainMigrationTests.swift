// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import Synchronization
import Testing
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSystem

@testable import whorl

/// Two machines with a chip each: a user's own directory, and the service that takes its place.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A keychain's migration` {
    private let chips: (own: SoftwareTPM, service: SoftwareTPM)
    private let own: InProcessRoot
    private let service: InProcessRoot

    init() async throws {
        chips = (try SoftwareTPM(), try SoftwareTPM())
        own = InProcessRoot(on: chips.own)
        service = InProcessRoot(on: chips.service)
        try await own.enroll(.leftThumb)
        try await service.enroll(.rightIndex)
    }

    private static func record(_ account: String, of program: String) -> KeychainRecord {
        KeychainRecord(
            .genericPassword,
            accessGroup: program,
            accessible: "ak",
            flags: 0,
            isSynchronizable: false,
            attributes: ["svce": .text("mail"), "acct": .text(account), "cdat": .date(12)]
        )
    }

    /// The bytes that the keychain seals for a value.
    private static func framed(_ text: String) -> SecretBox {
        let bytes = [1] + Array(text.utf8)
        return SecretBox(SecretBytes(copying: bytes.span.bytes))
    }

    private static func add(
        _ account: String,
        _ contents: NewKeychainContents,
        of program: String,
        to root: InProcessRoot
    ) async throws {
        let row = NewKeychainRow(record(account, of: program), contents)
        let rows = root.keychain(in: [program])
        let outcome = try await blocking { try rows.add([row], replacing: []) }
        guard case .stored = outcome else { throw ServiceError(.itemExists, account) }
    }

    /// Stores a plain item, two that a touch opens, and one of the chip's keys, of two programs.
    private func fill() async throws {
        try await Self.add("plain", .plain(Data("one".utf8)), of: "org.example.mail", to: own)
        for account in ["first", "second"] {
            let item = try await own.services.seal(
                Self.framed(account),
                access: .biometryAny,
                applicationPassword: nil
            )
            try await Self.add(account, .sealed(item), of: "org.example.bank", to: own)
        }
        let key = try await own.services.makeKey(access: .biometryAny, applicationPassword: nil)
        try await Self.add("key", .sealed(key), of: "org.example.bank", to: own)
    }

    private static func migration(_ own: InProcessRoot, _ service: InProcessRoot) async throws
        -> KeychainMigration
    {
        KeychainMigration(
            own: own.services,
            stored: try await blocking { try own.storedKeychain() },
            service: service.services,
            keychain: { program in service.keychain(in: [program]) }
        )
    }

    private static func asking(
        _ presenter: CountingPresenter,
        hasOwner: Bool = true
    ) -> KeychainMigration.Asking {
        .init(timeout: .seconds(60), hasOwner: hasOwner, presenter: { presenter }, onAnswer: { _ in })
    }

    private func rows(of root: InProcessRoot) async throws -> [KeychainRow] {
        let stored = try await blocking { try root.storedKeychain() }
        return try await blocking {
            try stored.groups.flatMap { group in
                let match = KeychainMatch(.genericPassword, groups: [group])
                return try stored.rows(group).rows(match, withValues: true, limit: .max)
            }
        }
    }

    @Test func `one touch moves all that it opens, as it was, and changes nothing old`() async throws {
        try await fill()
        let before = try await rows(of: own)
        let presenter = CountingPresenter()
        let migration = try await Self.migration(own, service)
        let plan = try await migration.plan()
        #expect(plan.moves.count == 3 && plan.rests.map(\.kind) == ["keychain key"], "\(plan)")
        let told = Mutex<[String]>([])
        let outcome = try await migration.move(plan, Self.asking(presenter)) { item in
            told.withLock { $0.append(item.text) }
        }
        #expect(outcome.moved.map(\.text) == ["mail, plain", "mail, first", "mail, second"])
        #expect(told.withLock(\.self) == outcome.moved.map(\.text) && outcome.refused.isEmpty)
        #expect(presenter.count == 1)
        let moved = try await rows(of: service)
        #expect(Set(moved.map(\.record)) == Set(before.map(\.record).filter { $0.words("acct") != "key" }))
        #expect(moved.contains { $0.contents == .value(Data("one".utf8)) })
        for row in moved {
            guard let item = row.contents.item else { continue }
            #expect(item.access == .biometryAny)
            let released = try await service.services.secret(
                in: .sealed(item),
                ReleaseRequest(
                    EvaluationRequest(
                        policy: .deviceOwner,
                        purpose: .yes,
                        reason: "look",
                        application: service.services.application
                    )
                ),
                presenter: CountingPresenter()
            )
            let isWhole = SecretBytes.areEqual(
                released.product.bytes,
                Self.framed(row.record.words("acct") ?? "").bytes
            )
            #expect(isWhole)
        }
        #expect(try await rows(of: own) == before)
    }

    @Test func `what the service has already stays as it is, also when it comes after the plan`() async throws
    {
        try await fill()
        try await Self.add("first", .plain(Data("theirs".utf8)), of: "org.example.bank", to: service)
        let migration = try await Self.migration(own, service)
        let plan = try await migration.plan()
        #expect(plan.there.map(\.text) == ["mail, first"])
        try await Self.add("plain", .plain(Data("late".utf8)), of: "org.example.mail", to: service)
        let outcome = try await migration.move(plan, Self.asking(CountingPresenter())) { _ in }
        #expect(outcome.moved.map(\.text) == ["mail, second"])
        #expect(outcome.refused.map(\.failure.code) == ["itemExists"])
        let values = try await rows(of: service).compactMap { row in
            if case .value(let value) = row.contents { String(decoding: value, as: UTF8.self) } else { nil }
        }
        #expect(values.sorted() == ["late", "theirs"])
    }

    @Test func `without the owner's touch nothing moves, and the owner is asked once`() async throws {
        try await fill()
        let closed = InProcessRoot(on: chips.own, reader: "mock:then=no-match")
        let presenter = CountingPresenter()
        let migration = try await Self.migration(closed, service)
        let outcome = try await migration.move(try await migration.plan(), Self.asking(presenter)) { _ in }
        #expect(outcome.moved.isEmpty && presenter.count == 1)
        #expect(outcome.refused.map(\.failure.code) == Array(repeating: "authenticationFailed", count: 3))
        #expect(try await rows(of: service).isEmpty)
    }

    @Test func `an owner of the service alone is asked there, and one of neither moves nothing`() async throws
    {
        let chip = try SoftwareTPM()
        let bare = InProcessRoot(on: chip)
        try await Self.add("plain", .plain(Data("one".utf8)), of: "org.example.mail", to: bare)
        let migration = try await Self.migration(bare, service)
        let presenter = CountingPresenter()
        let plan = try await migration.plan()
        let refused = try await Self.migration(bare, InProcessRoot(on: try SoftwareTPM()))
            .move(plan, Self.asking(presenter, hasOwner: false)) { _ in }
        #expect(refused.moved.isEmpty && refused.refused.count == 1 && presenter.count == 0)
        let outcome = try await migration.move(plan, Self.asking(presenter, hasOwner: false)) { _ in }
        #expect(outcome.moved.map(\.text) == ["mail, plain"] && presenter.count == 1)
    }

    @Test(arguments: [1, 2, 3], [true, false])
    func `a run that is killed at any item loses nothing, and the next one goes on`(
        item: Int,
        isStored: Bool
    ) async throws {
        try await fill()
        let before = try await rows(of: own)
        // A simulated TPM serves one program at a time.
        await own.services.close()
        await service.services.close()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                own = [chips.own.directory.path, chips.own.address] as [String],
                service = [chips.service.directory.path, chips.service.address] as [String],
                item = item as Int,
                isStored = isStored as Bool
            ] in
            let roots = (Self.root(own), Self.root(service))
            let whole = try await Self.migration(roots.0, roots.1)
            let adds = Mutex(0)
            let migration = KeychainMigration(
                own: whole.own,
                stored: whole.stored,
                service: whole.service,
                keychain: { program in
                    let number = adds.withLock { count in
                        count += 1
                        return count
                    }
                    let rows = roots.1.keychain(in: [program])
                    // Planning asks once for each of the two programs.
                    return number - 2 == item ? DeadlyRows(rows: rows, isStored: isStored) : rows
                }
            )
            let plan = try await migration.plan()
            _ = try await migration.move(plan, Self.asking(CountingPresenter())) { _ in }
        }
        try chips.own.flushLeaks()
        try chips.service.flushLeaks()
        let kept = try await rows(of: service)
        #expect(kept.count == (isStored ? item : item - 1))
        #expect(try await rows(of: own) == before)
        let migration = try await Self.migration(own, service)
        let outcome = try await migration.move(try await migration.plan(), Self.asking(CountingPresenter())) {
            _ in
        }
        #expect(outcome.refused.isEmpty && outcome.moved.count + kept.count == 3)
        #expect(try await rows(of: service).count == 3)
    }

    private static func root(_ place: [String]) -> InProcessRoot {
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = place[0] + "/whorl"
        configuration.profile = "ada"
        configuration.reader = "mock:then=match"
        configuration.tpm = place[1]
        configuration.allowsSimulatedTPM = true
        configuration.application = ApplicationID(rawValue: "org.example.app")
        return InProcessRoot(configuration)
    }
}

/// A presenter that shows nothing, and counts its prompts.
private final class CountingPresenter: PromptPresenter {
    private let shown = Mutex(0)

    var count: Int { shown.withLock(\.self) }
    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        shown.withLock { $0 += 1 }
        for await _ in entry.updates {}
        return nil
    }
}

/// Rows whose process is killed when something is added: after it was stored, or before.
private struct DeadlyRows: KeychainRowService {
    let rows: any KeychainRowService
    let isStored: Bool

    var groups: [String] { rows.groups }

    func rows(_ match: KeychainMatch, withValues: Bool, limit: Int) throws(ServiceError) -> [KeychainRow] {
        try rows.rows(match, withValues: withValues, limit: limit)
    }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        if isStored { _ = try rows.add(new, replacing: replacing) }
        kill(getpid(), SIGKILL)
        return .stale
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        try rows.update(changes, replacing: replacing)
    }

    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int { try rows.delete(matches) }
}

extension InProcessRoot {
    /// The keychain's rows of every program, as a private child has them for `whorl migrate`.
    fileprivate func storedKeychain() throws -> StoredKeychain {
        let (groups, count) = try keychainGroups()
        return StoredKeychain(groups: groups, count: count) { self.keychain(in: [$0]) }
    }
}
