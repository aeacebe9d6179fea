// SPDX-License-Identifier: Apache-2.0

import WhorlContext
import FacesOverSocket
import LocalAuthentication
import LocalAuthenticationTesting
import Synchronization
import Testing
import WhorlFingerprint
import WhorlService

/// Rights whose program ends after any number of changes to the keychain's rows.
@Suite struct InterruptedRightTests {
    private let machine = SimulatedMachine()
    private let application = ApplicationID(rawValue: "org.example.app")

    private func parts(_ keychain: any KeychainRowService) -> ContextParts {
        ContextParts(
            asker: machine.handlers,
            presenter: NoPrompt(),
            application: application,
            keychain: keychain,
            hasChip: { true }
        ).asTested
    }

    /// Runs a program that ends with its change of this number; the program after it has the rows that were left.
    private func run(endingBefore change: Int, _ body: () async throws -> Void) async throws {
        let rows = InterruptedRows(machine.keychain(of: application), changes: change)
        // The program's end looks like an error here.
        try? await ContextParts.$ofTask.withValue(parts(rows), operation: body)
    }

    /// The classes of the rows that are there.
    private func rows() throws -> Set<KeychainClass> {
        let keychain = machine.keychain(of: application)
        return Set(
            try [KeychainClass.key, .genericPassword].filter { itemClass in
                let match = KeychainMatch(itemClass, groups: keychain.groups)
                return try !keychain.rows(match, withValues: false, limit: .max).isEmpty
            }
        )
    }

    private func save() async throws {
        _ = try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data([1]))
    }

    @Test func `a program that ends while it saves a right with a secret leaves all of it, or nothing`()
        async throws
    {
        try await machine.setPasscode("1234")
        try await machine.add(.rightIndex)
        var left: Set<Set<KeychainClass>> = []
        for change in 0..<4 {
            try await run(endingBefore: change) { try await save() }
            left.insert(try rows())
            try await run(endingBefore: .max) { try await LARightStore.shared.removeAllRights() }
        }
        #expect(left == [[], [.key, .genericPassword]])
    }

    @Test func `a program that ends while it removes a right with a secret leaves all of it, or nothing`()
        async throws
    {
        try await machine.setPasscode("1234")
        try await machine.add(.rightIndex)
        let removals: [() async throws -> Void] = [
            { try await LARightStore.shared.removeRight(forIdentifier: "safe") },
            { try await LARightStore.shared.removeAllRights() },
        ]
        for remove in removals {
            var left: Set<Set<KeychainClass>> = []
            for change in 0..<3 {
                try await run(endingBefore: .max) { try await save() }
                try await run(endingBefore: change) { try await remove() }
                left.insert(try rows())
                try await run(endingBefore: .max) { try await LARightStore.shared.removeAllRights() }
            }
            #expect(left == [[], [.key, .genericPassword]])
        }
    }

    @Test func `a right that replaces one of another set of fingers takes its secret away too`() async throws
    {
        try await machine.setPasscode("1234")
        try await machine.add(.rightIndex)
        let right = LARight(requirement: .biometryCurrentSet)
        try await run(endingBefore: .max) {
            _ = try await LARightStore.shared.saveRight(right, identifier: "safe", secret: Data([1]))
        }
        try await machine.add(.leftIndex)
        try await run(endingBefore: .max) {
            _ = try await LARightStore.shared.saveRight(right, identifier: "safe")
        }
        #expect(try rows() == [.key])
    }
}

/// Rows that a program changes only so often before it ends.
private final class InterruptedRows: KeychainRowService {
    private let rows: any KeychainRowService
    private let left: Mutex<Int>

    init(_ rows: any KeychainRowService, changes: Int) {
        self.rows = rows
        left = Mutex(changes)
    }

    private func change() throws(ServiceError) {
        let mayChange = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard mayChange else { throw ServiceError(.storeFailed, "", cause: "the program has ended") }
    }

    var groups: [String] { rows.groups }

    func rows(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int
    ) throws(ServiceError) -> [KeychainRow] {
        try rows.rows(match, withValues: withValues, limit: limit)
    }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        try change()
        return try rows.add(new, replacing: replacing)
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        try change()
        return try rows.update(changes, replacing: replacing)
    }

    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int {
        try change()
        return try rows.delete(matches)
    }
}

private struct NoPrompt: PromptPresenter {
    var isInteractive: Bool {
        get async { true }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { .cancel }
}
