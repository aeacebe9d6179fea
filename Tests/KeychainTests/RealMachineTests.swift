// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainServices
import LocalAuthentication
import SecureEnclaveKeys
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlVault
import WhorlService
import WhorlSystem

/// Items and keys that a finger guards, from Apple's names down to a TPM: nothing in between is a double.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `With a TPM and a finger` {
    private let message = Data("pay 5 to Ada".utf8)
    private let notFound = status(errSecItemNotFound)

    // MARK: - Items

    @Test(arguments: [SecAccessControlCreateFlags.biometryAny, .biometryCurrentSet])
    func `an item asks once for each context`(flags: SecAccessControlCreateFlags) async throws {
        let machine = try await RealMachine()
        try await machine.run {
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control(flags), kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("a", item), nil) == errSecSuccess)
            #expect(machine.prompts == 0)
            let context = LAContext()
            #expect(value("a", [kSecUseAuthenticationContext: context]) == Data("v".utf8))
            #expect(value("a", [kSecUseAuthenticationContext: context]) == Data("v".utf8))
            #expect(machine.prompts == 1)
            #expect(value("a") == Data("v".utf8))
            #expect(value("a", [kSecUseAuthenticationContext: LAContext()]) == Data("v".utf8))
            #expect(machine.prompts == 3)
        }
        await machine.services.services.close()
        #expect(try machine.tpm.leaks().isEmpty)
    }

    @Test func `after a finger was added an item of the set before is gone, and the chip refuses it`()
        async throws
    {
        let machine = try await RealMachine()
        try await machine.run {
            let bound: [CFString: Any] = [kSecAttrAccessControl: control(.biometryCurrentSet)]
            #expect(SecItemAdd(generic("bound", bound), nil) == errSecSuccess)
        }
        let kept = try await machine.sealed(.genericPassword)
        #expect(try await machine.chipAnswer(to: kept) == nil)
        try await machine.run {
            let any: [CFString: Any] = [
                kSecAttrAccessControl: control(.biometryAny), kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("any", any), nil) == errSecSuccess)
        }
        try await machine.enroll(.rightIndex)
        try await machine.run {
            #expect(find(generic("bound", [kSecReturnData: true])).status == errSecItemNotFound)
            #expect(find(generic("bound", [kSecReturnAttributes: true])).status == errSecItemNotFound)
            #expect(machine.prompts == 0)
            #expect(value("any") == Data("v".utf8))
        }
        try await expectRefusal(of: kept, by: machine)
    }

    // Docs/Security.md: D2
    @Test func `the right passcode opens an item of an old set after the chip has refused the touch`()
        async throws
    {
        let machine = try await RealMachine()
        try await machine.setPasscode("1234")
        try await machine.run {
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control([.biometryCurrentSet, .or, .devicePasscode]),
                kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("a", item), nil) == errSecSuccess)
            #expect(value("a") == Data("v".utf8))
        }
        try await machine.enroll(.rightIndex)
        let asked = machine.prompts
        try await machine.run {
            // The touch, which the chip refuses, and then the passcode.
            #expect(value("a") == Data("v".utf8))
            #expect(machine.prompts == asked + 2)
            #expect(value("a") == Data("v".utf8))
        }
    }

    // MARK: - SecKey

    @Test func `a key signs and decrypts with one prompt for each context`() async throws {
        let machine = try await RealMachine()
        let message = message
        try await machine.run {
            let context = LAContext()
            let key = try chipKey([.privateKeyUsage, .biometryCurrentSet], context)
            let other = try publicKey(key)
            let signature = try sign(message, key).get()
            #expect(verifies(signature, message, other))
            #expect(machine.prompts == 1)
            let cipher = try encrypt(message, other)
            #expect(try decrypt(cipher, key).get() == message)
            #expect(machine.prompts == 1)
            let loose = try chipKey([.privateKeyUsage, .biometryAny])
            #expect(verifies(try sign(message, loose).get(), message, try publicKey(loose)))
            #expect(try decrypt(encrypt(message, publicKey(loose)), loose).get() == message)
            #expect(machine.prompts == 3)
        }
        await machine.services.services.close()
        #expect(try machine.tpm.leaks().isEmpty)
    }

    @Test func `after a finger was added a key of the set before fails, and the chip refuses it`()
        async throws
    {
        let machine = try await RealMachine()
        let message = message
        let (key, cipher) = try await machine.run {
            let key = try chipKey([.privateKeyUsage, .biometryCurrentSet], LAContext())
            #expect(SecItemAdd([kSecValueRef: key] as CFDictionary, nil) == errSecSuccess)
            // The context, which the key keeps, has been shown the finger; that helps nobody later.
            _ = try sign(message, key).get()
            return (key, try encrypt(message, publicKey(key)))
        }
        let kept = try await machine.sealed(.key)
        #expect(try await machine.chipAnswer(to: kept) == nil)
        try await machine.enroll(.rightIndex)
        try await machine.run {
            let asked = machine.prompts
            #expect(sign(message, key).code == notFound)
            #expect(decrypt(cipher, key).code == notFound)
            let query = [kSecClass: kSecClassKey, kSecReturnRef: true] as CFDictionary
            #expect(find(query).status == errSecItemNotFound)
            #expect(machine.prompts == asked)
        }
        try await expectRefusal(of: kept, by: machine)
    }

    @Test func `a certificate for a key of the chip makes an identity, whose use asks`() async throws {
        let machine = try await RealMachine()
        let message = message
        let authority = try CertificateAuthority("/CN=Root")
        let key = try await machine.run {
            let key = try chipKey([.privateKeyUsage, .biometryCurrentSet])
            #expect(SecItemAdd([kSecValueRef: key] as CFDictionary, nil) == errSecSuccess)
            return key
        }
        let own = try certificate(authority.issue("/CN=ada", for: key))
        try await machine.run {
            #expect(SecItemAdd([kSecValueRef: own] as CFDictionary, nil) == errSecSuccess)
            let context = LAContext()
            let query: [CFString: Any] = [
                kSecClass: kSecClassIdentity, kSecReturnRef: true, kSecUseAuthenticationContext: context,
            ]
            let identity = try #require(find(query as CFDictionary).object as? SecIdentity)
            var whole: SecKey?
            #expect(SecIdentityCopyPrivateKey(identity, &whole) == errSecSuccess)
            #expect(machine.prompts == 0)
            let half = try #require(SecCertificateCopyKey(own))
            #expect(verifies(try sign(message, try #require(whole)).get(), message, half))
            #expect(machine.prompts == 1)
            let value = [kSecClass: kSecClassIdentity, kSecReturnData: true] as CFDictionary
            #expect(find(value).status == errSecDataNotAvailable)
        }
        try await machine.enroll(.rightIndex)
        try await machine.run {
            let query = [kSecClass: kSecClassIdentity, kSecReturnRef: true] as CFDictionary
            #expect(find(query).status == errSecItemNotFound)
            #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecSuccess)
        }
    }

    // MARK: - SecureEnclave

    @Test func `a key's bytes give the key again in the program's next run`() async throws {
        let machine = try await RealMachine()
        let message = message
        let other = P256.KeyAgreement.PrivateKey()
        let (signing, agreeing) = try await machine.run {
            #expect(SecureEnclave.isAvailable)
            let access = control([.privateKeyUsage, .biometryCurrentSet])
            return (
                try SecureEnclave.P256.Signing.PrivateKey(accessControl: access),
                try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: access)
            )
        }
        let next = try await RealMachine(restarted: machine)
        try await next.run {
            let context = LAContext()
            let again = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: signing.dataRepresentation,
                authenticationContext: context
            )
            #expect(again.publicKey.rawRepresentation == signing.publicKey.rawRepresentation)
            #expect(signing.publicKey.isValidSignature(try again.signature(for: message), for: message))
            let agreed = try SecureEnclave.P256.KeyAgreement.PrivateKey(
                dataRepresentation: agreeing.dataRepresentation,
                authenticationContext: context
            )
            let here = try agreed.sharedSecretFromKeyAgreement(with: other.publicKey)
            #expect(here == (try other.sharedSecretFromKeyAgreement(with: agreeing.publicKey)))
            #expect(next.prompts == 1)
        }
    }

    @Test func `after a finger was added the bytes of a key of the set before are worth nothing`()
        async throws
    {
        let machine = try await RealMachine()
        let message = message
        let key = try await machine.run {
            try SecureEnclave.P256.Signing.PrivateKey(
                accessControl: control([.privateKeyUsage, .biometryCurrentSet])
            )
        }
        let kept = try SealedItem(encoded: key.dataRepresentation)
        #expect(try await machine.chipAnswer(to: kept) == nil)
        try await machine.enroll(.rightIndex)
        try await machine.run {
            for dead in [key, try .init(dataRepresentation: key.dataRepresentation)] {
                let error = #expect(throws: NSError.self) { try dead.signature(for: message) }
                #expect(error?.domain == NSOSStatusErrorDomain)
                #expect(error?.code == Int(errSecItemNotFound))
            }
            #expect(machine.prompts == 0)
        }
        try await expectRefusal(of: kept, by: machine)
    }

    /// The counter in the chip has gone on, and the chip says so to whoever asks it past all of Whorl's own checks.
    private func expectRefusal(of item: SealedItem, by machine: RealMachine) async throws {
        let refusal = try #require(try await machine.chipAnswer(to: item))
        #expect(refusal.code == .enrollmentChanged)
        #expect(refusal.cause.contains("TPM2_PolicyNV"), "\(refusal.cause)")
    }
}

private func sign(_ message: Data, _ key: SecKey) -> Result<Data, NSError> {
    outcome { SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0) }
        .map { Data(referencing: $0) }
}

private func verifies(_ signature: Data, _ message: Data, _ key: SecKey) -> Bool {
    SecKeyVerifySignature(
        key,
        .ecdsaSignatureMessageX962SHA256,
        message as CFData,
        signature as CFData,
        nil
    )
}

private let ecies = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

private func encrypt(_ message: Data, _ key: SecKey) throws -> Data {
    try outcome { SecKeyCreateEncryptedData(key, ecies, message as CFData, $0) }
        .map { Data(referencing: $0) }.get()
}

private func decrypt(_ cipher: Data, _ key: SecKey) -> Result<Data, NSError> {
    outcome { SecKeyCreateDecryptedData(key, ecies, cipher as CFData, $0) }.map { Data(referencing: $0) }
}
