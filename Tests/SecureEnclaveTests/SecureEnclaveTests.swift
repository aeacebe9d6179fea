// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import PretendedChip
import Crypto
import LocalAuthentication
import SecureEnclaveKeys
import Testing
import WhorlService

@Suite struct `Secure Enclave keys` {
    private let message = Data("pay 5 to Ada".utf8)
    private let guarded = SecAccessControlCreateWithFlags(
        nil,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        [.privateKeyUsage, .biometryCurrentSet],
        nil
    )

    @Test func `a signing key's signatures are right for its public key, over a message and over any hash`()
        throws
    {
        try onPretendedChip { _ in
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            #expect(key.publicKey.isValidSignature(try key.signature(for: message), for: message))
            let long = SHA512.hash(data: message)
            #expect(key.publicKey.isValidSignature(try key.signature(for: long), for: long))
            let short = Insecure.SHA1.hash(data: message)
            #expect(key.publicKey.isValidSignature(try key.signature(for: short), for: short))
        }
    }

    @Test func `a shared secret is the one that the library agrees on, and derives the same keys`() throws {
        try onPretendedChip { _ in
            let mine = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let other = P256.KeyAgreement.PrivateKey()
            let here = try mine.sharedSecretFromKeyAgreement(with: other.publicKey)
            let there = try other.sharedSecretFromKeyAgreement(with: mine.publicKey)
            #expect(here == there)
            // Code that names CryptoKit's type takes it.
            let named: SharedSecret = here
            #expect(named.withUnsafeBytes { Data($0) } == there.withUnsafeBytes { Data($0) })
            let salt = Data("salt".utf8)
            #expect(
                here.hkdfDerivedSymmetricKey(
                    using: SHA256.self,
                    salt: salt,
                    sharedInfo: message,
                    outputByteCount: 48
                )
                    == there.hkdfDerivedSymmetricKey(
                        using: SHA256.self,
                        salt: salt,
                        sharedInfo: message,
                        outputByteCount: 48
                    )
            )
            #expect(
                here.x963DerivedSymmetricKey(using: SHA384.self, sharedInfo: message, outputByteCount: 100)
                    == there.x963DerivedSymmetricKey(
                        using: SHA384.self,
                        sharedInfo: message,
                        outputByteCount: 100
                    )
            )
        }
    }

    @Test func `a context asks once for all uses of a key, and without one each use asks`() throws {
        try onPretendedChip { chip in
            let access = try #require(guarded)
            let context = LAContext()
            let bound = try SecureEnclave.P256.Signing.PrivateKey(
                accessControl: access,
                authenticationContext: context
            )
            _ = try (bound.signature(for: message), bound.signature(for: message))
            #expect(chip.prompts == 1)
            let loose = try SecureEnclave.P256.Signing.PrivateKey(accessControl: access)
            _ = try (loose.signature(for: message), loose.signature(for: message))
            #expect(chip.prompts == 3)
        }
    }

    @Test func `an owner who is not recognized is an LAError`() throws {
        try onPretendedChip { chip in
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: try #require(guarded))
            chip.fail(with: .userCancel)
            do {
                _ = try key.signature(for: message)
                Issue.record("it signed")
            } catch LAError.userCancel {
            }
        }
    }

    @Test func `an access control that guards and does not say privateKeyUsage is refused`() throws {
        try onPretendedChip { _ in
            let access = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
            )
            let error = #expect(throws: NSError.self) {
                try SecureEnclave.P256.Signing.PrivateKey(accessControl: access)
            }
            #expect(error?.code == Int(errSecParam))
        }
    }

    @Test func `bytes that are no key are refused`() {
        onPretendedChip { _ in
            for bytes in [Data(), Data("no key".utf8), Data(count: 300)] {
                let error = #expect(throws: NSError.self) {
                    try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: bytes)
                }
                #expect(error?.code == Int(errSecDecode))
            }
        }
    }

    @Test func `keys that no TPM has fail when they are made`() {
        func refusal(_ make: () throws -> Void) -> Int? {
            do {
                try make()
                return nil
            } catch {
                return (error as NSError).code
            }
        }
        #expect(refusal { _ = try SecureEnclave.MLKEM768.PrivateKey() } == Int(errSecUnimplemented))
        #expect(refusal { _ = try SecureEnclave.MLKEM1024.PrivateKey() } == Int(errSecUnimplemented))
        #expect(refusal { _ = try SecureEnclave.MLDSA65.PrivateKey() } == Int(errSecUnimplemented))
        #expect(
            refusal { _ = try SecureEnclave.MLDSA87.PrivateKey(dataRepresentation: Data()) }
                == Int(errSecUnimplemented)
        )
        #expect(refusal { _ = try SecureEnclave.MLKEM768.PrivateKey.generate() } == Int(errSecUnimplemented))
        let names = [
            SecureEnclave.MLKEM768.PrivateKey.algorithm, SecureEnclave.MLKEM1024.PrivateKey.algorithm,
            SecureEnclave.MLDSA65.PrivateKey.algorithm, SecureEnclave.MLDSA87.PrivateKey.algorithm,
        ]
        #expect(Set(names).count == 4)
    }

    @Test func `it is available where there is a chip`() {
        onPretendedChip { _ in #expect(SecureEnclave.isAvailable) }
        let chip = PretendedChip()
        ContextParts.$ofTask.withValue(chip.parts(hasChip: false).asTested) {
            #expect(!SecureEnclave.isAvailable)
        }
    }
}

/// Runs something on a test device with a chip.
private func onPretendedChip<Value>(_ body: (PretendedChip) throws -> Value) rethrows -> Value {
    let chip = PretendedChip()
    return try ContextParts.$ofTask.withValue(chip.parts().asTested) { try body(chip) }
}

/// A program may extend the keys of each algorithm in its own way.
private protocol Algorithm { static var algorithm: String { get } }
extension SecureEnclave.MLKEM768.PrivateKey: Algorithm { fileprivate static var algorithm: String { "768" } }
extension SecureEnclave.MLKEM1024.PrivateKey: Algorithm {
    fileprivate static var algorithm: String { "1024" }
}
extension SecureEnclave.MLDSA65.PrivateKey: Algorithm { fileprivate static var algorithm: String { "65" } }
extension SecureEnclave.MLDSA87.PrivateKey: Algorithm { fileprivate static var algorithm: String { "87" } }
