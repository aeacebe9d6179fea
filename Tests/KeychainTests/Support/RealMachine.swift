// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import KeychainServices
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import Synchronization
import Testing
import WhorlVault
import WhorlService
import WhorlSystem

/// A machine as programs have it: the engine, a TPM of its own, and a reader on which the enrolled finger is laid
/// whenever it asks.
final class RealMachine: Sendable {
    let tpm: SoftwareTPM
    let services: InProcessRoot
    private let parts: ContextParts
    private let presenter = CountedPrompts()

    /// With the left index finger enrolled.
    convenience init() async throws {
        try self.init(SoftwareTPM())
        try await enroll(.leftIndex)
    }

    /// The program, started anew on the same machine.
    convenience init(restarted machine: RealMachine) async throws {
        await machine.services.services.close()
        try self.init(machine.tpm)
    }

    private init(_ tpm: SoftwareTPM) throws {
        let services = InProcessRoot(on: tpm)
        self.tpm = tpm
        self.services = services
        parts =
            ContextParts(
                asker: services.services,
                presenter: presenter,
                application: services.application,
                keychain: services.services.keychain,
                hasChip: { (try? await services.services.ask(ReadVaultStatus()).obstacle == nil) ?? false }
            ).asTested
    }

    /// How often somebody was asked.
    var prompts: Int { presenter.count }

    /// Sets the owner's passcode, which is typed from now on where a prompt asks for it alone.
    func setPasscode(_ text: String) async throws {
        let passcode = SecretBox(SecretBytes(copying: Array(text.utf8).span.bytes))
        try await services.vault().setPasscode(
            passcode,
            of: services.profile,
            shown: .matchedFinger(of: services.profile)
        )
        presenter.type(text)
    }

    /// Adds a finger, as `whorl enroll` does it in a process of its own.
    func enroll(_ finger: Finger) async throws { try await services.enroll(finger) }

    /// Runs the calls of a program, on a thread of their own: they wait for the engine, which may need a thread of the
    /// shared pool.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let parts = parts
        let result = await withCheckedContinuation { done in
            Thread {
                done.resume(returning: Result { try ContextParts.$ofTask.withValue(parts) { try body() } })
            }.start()
        }
        return try result.get()
    }

    /// A stored item as it lies in its row.
    func sealed(_ itemClass: KeychainClass) async throws -> SealedItem {
        let parts = parts
        return try await run {
            let store = KeychainStore(parts)
            let items = try store.items(KeychainMatch(itemClass, groups: store.groups), withValues: true)
            return try #require(items.first?.contents.item)
        }
    }

    /// What the chip answers to a program that says itself that an enrolled finger has matched, and so asks nobody.
    func chipAnswer(to item: SealedItem) async throws -> ServiceError? {
        let vault = try await services.vault()
        do throws(ServiceError) {
            switch item.kind {
            case .secret: _ = try await vault.secret(in: item, shown: .matchedFinger(of: "ada"))
            case .key, .sshKey:
                _ = try await vault.sign(
                    digest: Data(count: 32),
                    with: item,
                    shown: .matchedFinger(of: "ada")
                )
            }
            return nil
        } catch {
            return error
        }
    }
}

/// A prompt that is counted; the finger is the reader's, and the passcode is typed where it alone is asked for.
private final class CountedPrompts: PromptPresenter {
    private let state = Mutex<(shown: Int, passcode: String?)>((0, nil))

    var count: Int { state.withLock(\.shown) }
    var isInteractive: Bool { get async { true } }
    var takesPasscode: Bool { get async { state.withLock { $0.passcode != nil } } }

    /// Has this passcode typed from now on.
    func type(_ passcode: String) { state.withLock { $0.passcode = passcode } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let typed = state.withLock { state in
            state.shown += 1
            return state.passcode
        }
        if prompt.parts == .passcode, let typed {
            entry.submit(SecretBytes(copying: Array(typed.utf8).span.bytes))
        }
        for await _ in entry.updates {}
        return nil
    }
}
