// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import Foundation
import KeychainServices
import LocalAuthentication
import WhorlSecretMemory
import SoftwareTPM
import SoftwareMachine
import Testing
import WhorlVault
import WhorlService
import WhorlSystem

/// The same with a TPM, and with the engine that programs have.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `With a TPM` {
    private let tpm: SoftwareTPM
    private let services: InProcessRoot
    private let parts: ContextParts

    init() throws {
        let tpm = try SoftwareTPM()
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = tpm.directory.path + "/whorl"
        configuration.profile = "ada"
        configuration.tpm = tpm.address
        configuration.application = ApplicationID(rawValue: "org.example.app")
        let services = InProcessRoot(configuration)
        self.tpm = tpm
        self.services = services
        parts =
            ContextParts(
                asker: services.services,
                presenter: TypedPasscode(),
                application: services.application,
                keychain: services.services.keychain
            ).asTested
    }

    /// Runs `body` on a thread of its own: it waits for the engine, which may need a thread of the shared pool.
    private func run(_ body: @escaping @Sendable () -> Void) async {
        let parts = parts
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let thread = Thread {
                ContextParts.$ofTask.withValue(parts) { body() }
                done.resume()
            }
            thread.start()
        }
    }

    @Test func `what the passcode guards opens for it, and goes with it where it says so`() async throws {
        let vault = try await services.vault()
        await run {
            let guarded: [CFString: Any] = [kSecAttrAccessControl: control(.devicePasscode)]
            #expect(SecItemAdd(generic("early", guarded), nil) == errSecNotAvailable)
        }
        try await vault.setPasscode(secret("1234"), of: "ada")
        await run {
            let guarded: [CFString: Any] = [
                kSecAttrAccessControl: control(.devicePasscode), kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("guarded", guarded), nil) == errSecSuccess)
            #expect(value("guarded") == Data("v".utf8))
            let quiet: [CFString: Any] = [
                kSecUseAuthenticationUI: kSecUseAuthenticationUIFail, kSecReturnData: true,
            ]
            #expect(find(generic("guarded", quiet)).status == errSecInteractionNotAllowed)
            let change = [kSecValueData: Data("w".utf8)] as CFDictionary
            #expect(SecItemUpdate(generic("guarded"), change) == errSecSuccess)
            #expect(value("guarded") == Data("w".utf8))
            let bound: [CFString: Any] = [
                kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                kSecValueData: Data("b".utf8),
            ]
            #expect(SecItemAdd(generic("bound", bound), nil) == errSecSuccess)
            #expect(value("bound") == Data("b".utf8))
        }
        try await vault.removePasscode(shown: try await vault.verify(secret("1234"), of: "ada"), force: true)
        await run {
            #expect(SecItemCopyMatching(generic("bound"), nil) == errSecItemNotFound)
            #expect(value("guarded") == nil)
        }
    }

    @Test func `an application password is the chip's to compare`() async {
        await run {
            func with(_ password: String) -> [CFString: Any] {
                let context = LAContext()
                context.setCredential(Data(password.utf8), type: .applicationPassword)
                return [kSecUseAuthenticationContext: context]
            }
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control(.applicationPassword), kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("a", item.merging(with("right")) { $1 }), nil) == errSecSuccess)
            #expect(value("a", with("right")) == Data("v".utf8))
            let wrong = with("wrong").merging([kSecReturnData: true]) { $1 }
            #expect(find(generic("a", wrong)).status == errSecAuthFailed)
        }
    }

    @Test func `a saved right is a key and a secret of the chip, which one prompt opens`() async throws {
        let vault = try await services.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        try await ContextParts.$ofTask.withValue(parts) {
            let store = LARightStore.shared
            let right = try await store.saveRight(LARight(), identifier: "safe", secret: Data("v".utf8))
            await #expect(throws: LAError.self) { try await right.secret.rawData }
            // Whatever comes after it is not allowed to prompt.
            try await right.authorize(localizedReason: "open the safe")
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let signature = try await right.key.sign(Data("m".utf8), algorithm: algorithm)
            try await right.key.publicKey.verify(Data("m".utf8), signature: signature, algorithm: algorithm)
            let ecies = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
            let encrypted = try await right.key.publicKey.encrypt(Data("e".utf8), algorithm: ecies)
            #expect(try await right.key.decrypt(encrypted, algorithm: ecies) == Data("e".utf8))
            #expect(try await right.secret.rawData == Data("v".utf8))
            await right.deauthorize()
            await #expect(throws: LAError.self) { try await right.secret.rawData }
            try await store.removeAllRights()
            await #expect(throws: NSError.self) { try await store.right(forIdentifier: "safe") }
        }
    }

    @Test func `a finger that is not enrolled opens nothing`() async {
        await run {
            let any: [CFString: Any] = [kSecAttrAccessControl: control(.biometryAny)]
            #expect(SecItemAdd(generic("a", any), nil) == errSecSuccess)
            #expect(find(generic("a", [kSecReturnData: true])).status == errSecAuthFailed)
            let now: [CFString: Any] = [kSecAttrAccessControl: control(.biometryCurrentSet)]
            #expect(SecItemAdd(generic("b", now), nil) == errSecNotAvailable)
        }
    }
}

/// A prompt into which the right passcode is typed at once.
private struct TypedPasscode: PromptPresenter {
    var isInteractive: Bool { get async { true } }
    var takesPasscode: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        _ = entry.submit(SecretBytes(count: 4) { $0.copyBytes(from: "1234".utf8) })
        for await _ in entry.updates {}
        return nil
    }
}

private func secret(_ text: String) -> SecretBox {
    SecretBox(SecretBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) })
}
