// SPDX-License-Identifier: Apache-2.0

import WhorlContext
import WhorlFingerprint
import Foundation
import KeychainServices
import LocalAuthentication
import WhorlSecretMemory
import Testing
import WhorlService
import WhorlSupport

@testable import WhorlRemote

/// Apple's names in a program whose engine is in another process, down to a TPM.
@Suite("Apple's names over a socket")
struct FaceTests {
    /// Runs the calls of a program on a thread of their own, and returns what they give and how often a person was asked.
    private func run<Value: Sendable>(
        on machine: RemoteMachine,
        _ body: @escaping @Sendable (ScriptedPresenter) throws -> Value
    ) async throws -> Value {
        let presenter = ScriptedPresenter()
        let parts = ContextParts(of: machine.services, presenter: presenter)
        return try await withCheckedThrowingContinuation { done in
            requireThread("test") {
                done.resume(
                    with: Result { try ContextParts.$ofTask.withValue(parts) { try body(presenter) } }
                )
            }
        }
    }

    private func query(_ more: [CFString: Any] = [:]) -> CFDictionary {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: "ada",
        ]
        query.merge(more) { _, new in new }
        return query as CFDictionary
    }

    private func value(_ more: [CFString: Any] = [:]) -> Data? {
        var object: CFTypeRef?
        let all = more.merging([kSecReturnData: true]) { _, new in new }
        return SecItemCopyMatching(query(all), &object) == errSecSuccess ? object as? Data : nil
    }

    @Test func `a password is added, found, changed and deleted`() async throws {
        let machine = try await RemoteMachine()
        try await run(on: machine) { _ in
            #expect(SecItemAdd(query([kSecValueData: Data("one".utf8)]), nil) == errSecSuccess)
            #expect(SecItemAdd(query([kSecValueData: Data("two".utf8)]), nil) == errSecDuplicateItem)
            #expect(value() == Data("one".utf8))
            let change = [kSecValueData: Data("two".utf8)] as CFDictionary
            #expect(SecItemUpdate(query(), change) == errSecSuccess)
            #expect(value() == Data("two".utf8))
            #expect(SecItemDelete(query()) == errSecSuccess)
            #expect(value() == nil)
        }
    }

    @Test func `an item that a finger guards asks once for each context`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        try await run(on: machine) { presenter in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                    .biometryCurrentSet,
                    nil
                )
            )
            let item: [CFString: Any] = [kSecAttrAccessControl: control, kSecValueData: Data("v".utf8)]
            #expect(SecItemAdd(query(item), nil) == errSecSuccess)
            #expect(presenter.prompts.isEmpty)
            let context = LAContext()
            #expect(value([kSecUseAuthenticationContext: context]) == Data("v".utf8))
            #expect(value([kSecUseAuthenticationContext: context]) == Data("v".utf8))
            #expect(presenter.prompts.count == 1)
            context.invalidate()
            #expect(value([kSecUseAuthenticationContext: LAContext()]) == Data("v".utf8))
            #expect(presenter.prompts.count == 2)
        }
    }

    @Test func `a context evaluates, and its domain state is the one of the service`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let state = try await machine.services.ask(ReadEnrollmentState(for: machine.services.application))
        let parts = ContextParts(of: machine.services, presenter: ScriptedPresenter())
        try await ContextParts.$ofTask.withValue(parts) {
            let context = LAContext()
            let isOwner = try await context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: "open the vault"
            )
            #expect(isOwner)
            #expect(context.evaluatedPolicyDomainState == state?.digest)
            #expect(context.biometryType == .touchID)
        }
    }
}
