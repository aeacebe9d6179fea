// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import PretendedChip
import Crypto
import Foundation
import KeychainServices
import LocalAuthentication
import Testing
import WhorlVault
import WhorlService

private let message = Data("pay 5 to Ada".utf8)

private let hashes: [String: Data] = [
    "SHA1": Data(Insecure.SHA1.hash(data: message)), "SHA224": Data(count: 28),
    "SHA256": Data(SHA256.hash(data: message)), "SHA384": Data(SHA384.hash(data: message)),
    "SHA512": Data(SHA512.hash(data: message)),
]

@Suite struct `Signing` {
    @Test(arguments: ["256", "384", "521", "chip"], ["X962", "RFC4754"])
    func `message and digest algorithms of each hash agree, in both forms`(kind: String, form: String) throws
    {
        try onPretendedChip { _ in
            let key = try anyKey(kind)
            let half = try publicKey(key)
            for (name, hash) in hashes {
                let digest = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-\(form):\(name)" as CFString)
                let text = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-\(form):\(name)" as CFString)
                let signature = try outcome { SecKeyCreateSignature(key, digest, hash as CFData, $0) }.get()
                #expect(SecKeyVerifySignature(half, digest, hash as CFData, signature, nil), "\(name)")
                // The library has no SHA-224 of its own.
                guard name != "SHA224" else {
                    #expect(!SecKeyIsAlgorithmSupported(key, .sign, text))
                    continue
                }
                #expect(SecKeyVerifySignature(half, text, message as CFData, signature, nil), "\(name)")
                let other = try outcome { SecKeyCreateSignature(key, text, message as CFData, $0) }.get()
                #expect(SecKeyVerifySignature(half, digest, hash as CFData, other, nil), "\(name)")
                if form == "RFC4754" { #expect(other.length == 2 * SecKeyGetBlockSize(key)) }
            }
        }
    }

    @Test(arguments: ["PKCS1v15", "PSS"])
    func `RSA signs messages and hashes, with both paddings`(padding: String) throws {
        let key = try softwareKey(kSecAttrKeyTypeRSA, 2048)
        let half = try publicKey(key)
        for (name, hash) in hashes where name != "SHA224" {
            let tail = padding == "PSS" ? ":\(name):\(hash.count)" : ""
            let digest = SecKeyAlgorithm(
                rawValue: "algid:sign:RSA:digest-\(padding):\(name)\(tail)" as CFString
            )
            let text = SecKeyAlgorithm(
                rawValue: "algid:sign:RSA:message-\(padding):\(name)\(tail)" as CFString
            )
            let signature = try outcome { SecKeyCreateSignature(key, digest, hash as CFData, $0) }.get()
            #expect(signature.length == 256)
            #expect(SecKeyVerifySignature(half, text, message as CFData, signature, nil), "\(name)")
        }
    }

    @Test func `openssl says that signatures are right, and makes ones that are`() throws {
        try onPretendedChip { _ in
            for key in [try chipKey(), try softwareKey(256), try softwareKey(kSecAttrKeyTypeRSA, 2048)] {
                let isRSA = SecKeyGetBlockSize(key) == 256
                let algorithm: SecKeyAlgorithm =
                    isRSA ? .rsaSignatureMessagePKCS1v15SHA256 : .ecdsaSignatureMessageX962SHA256
                let signature = try outcome { SecKeyCreateSignature(key, algorithm, message as CFData, $0) }
                    .get()
                try withFolder { folder in
                    let half = try bytes(publicKey(key))
                    let info =
                        isRSA
                        ? try run(
                            "openssl",
                            ["rsa", "-RSAPublicKey_in", "-inform", "DER", "-pubout"],
                            input: half
                        )
                        : Data(try P256.Signing.PublicKey(x963Representation: half).pemRepresentation.utf8)
                    let (file, signed) = (folder.appending(path: "key"), folder.appending(path: "signature"))
                    try info.write(to: file)
                    try Data(referencing: signature).write(to: signed)
                    let said = try run(
                        "openssl",
                        ["dgst", "-sha256", "-verify", file.path, "-signature", signed.path],
                        input: message
                    )
                    #expect(String(data: said, encoding: .utf8) == "Verified OK\n")
                }
            }
            let pem = try run("openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout"])
            try withFolder { folder in
                let file = folder.appending(path: "key")
                try pem.write(to: file)
                let made = try run("openssl", ["dgst", "-sha384", "-sign", file.path], input: message)
                let text = try #require(String(data: pem, encoding: .utf8))
                let point = try P256.Signing.PrivateKey(pemRepresentation: text).publicKey.x963Representation
                let attributes = [
                    kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPublic,
                ]
                let key = try outcome {
                    SecKeyCreateWithData(point as CFData, attributes as CFDictionary, $0)
                }.get()
                #expect(
                    SecKeyVerifySignature(
                        key,
                        .ecdsaSignatureMessageX962SHA384,
                        message as CFData,
                        made as CFData,
                        nil
                    )
                )
            }
        }
    }

    @Test func `a signature that is not right is errSecVerifyFailed, whatever it is made of`() throws {
        for (key, algorithm) in [
            (try softwareKey(256), .ecdsaSignatureMessageX962SHA256),
            (try softwareKey(521), .ecdsaSignatureMessageRFC4754SHA512),
            (try softwareKey(kSecAttrKeyTypeRSA, 2048), .rsaSignatureMessagePSSSHA256),
        ] as [(SecKey, SecKeyAlgorithm)] {
            let right = try outcome { SecKeyCreateSignature(key, algorithm, message as CFData, $0) }.get()
            var wrong = Data(referencing: right)
            wrong[wrong.count - 1] ^= 1
            for bytes in [wrong, Data(), Data(count: right.length), Data([0x30]), Data(right as Data) + [0]] {
                let half = try publicKey(key)
                let verdict = outcome { error in
                    SecKeyVerifySignature(half, algorithm, message as CFData, bytes as CFData, error)
                        ? true : nil
                }
                #expect(verdict.code == status(errSecVerifyFailed))
            }
        }
    }

    @Test func `a key does not do what it is not for`() throws {
        let (ec, rsa) = try (softwareKey(256), softwareKey(kSecAttrKeyTypeRSA, 1024))
        #expect(SecKeyIsAlgorithmSupported(ec, .sign, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(ec, .verify, .ecdsaSignatureMessageX962SHA256))
        #expect(try SecKeyIsAlgorithmSupported(publicKey(ec), .verify, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(ec, .sign, .rsaSignatureMessagePSSSHA256))
        #expect(!SecKeyIsAlgorithmSupported(ec, .keyExchange, .ecdsaSignatureMessageX962SHA256))
        #expect(SecKeyIsAlgorithmSupported(ec, .keyExchange, .ecdhKeyExchangeCofactorX963SHA512))
        // 1,024 bits hold no hash and salt of 64 bytes each.
        #expect(!SecKeyIsAlgorithmSupported(rsa, .sign, .rsaSignatureMessagePSSSHA512))
        #expect(!SecKeyIsAlgorithmSupported(rsa, .sign, .rsaSignatureRaw))
        #expect(!SecKeyIsAlgorithmSupported(rsa, .sign, SecKeyAlgorithm(rawValue: "algid:sign:RSA")))
        #expect(!SecKeyIsAlgorithmSupported(rsa, .sign, SecKeyAlgorithm(rawValue: "")))
        for (key, algorithm, data) in [
            (try publicKey(ec), .ecdsaSignatureMessageX962SHA256, message),
            (ec, .rsaSignatureMessagePSSSHA256, message),
            (ec, .ecdsaSignatureDigestX962SHA256, message),
            (ec, .ecdsaSignatureDigestX962, Data()),
            (ec, .ecdsaSignatureDigestX962, Data(count: 65)),
            (rsa, .rsaSignatureDigestPKCS1v15SHA256, message),
        ] as [(SecKey, SecKeyAlgorithm, Data)] {
            #expect(
                outcome { SecKeyCreateSignature(key, algorithm, data as CFData, $0) }.code
                    == status(errSecParam)
            )
        }
    }

    @Test(
        arguments: [.userCancel, .biometryLockout, .notInteractive, .authenticationFailed]
            as [ServiceError.Code]
    )
    func `an owner who is not recognized is an error of LAErrorDomain`(code: ServiceError.Code) throws {
        try onPretendedChip { chip in
            let key = try chipKey([.privateKeyUsage, .biometryCurrentSet])
            chip.fail(with: code)
            let failure = outcome {
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0)
            }
            guard case .failure(let error) = failure else {
                Issue.record("it signed")
                return
            }
            let known = try #require(error as any Error as? LAError)
            #expect(known == LAError(ServiceError(code)))
            #expect(error.domain == LAErrorDomain)
        }
    }

    @Test(
        arguments: [
            (.enrollmentChanged, errSecItemNotFound), (.chipCleared, errSecItemNotFound),
            (.itemTampered, errSecItemNotFound), (.applicationPasswordWrong, errSecAuthFailed),
            (.noChip, errSecNotAvailable), (.chipBusy, errSecIO),
        ] as [(ServiceError.Code, OSStatus)]
    )
    func `what the vault says when a key is used is a status`(code: ServiceError.Code, wanted: OSStatus)
        throws
    {
        try onPretendedChip { chip in
            let key = try chipKey([.privateKeyUsage, .biometryCurrentSet])
            chip.refuse(with: ServiceError(code))
            let failure = outcome {
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0)
            }
            #expect(failure.code == status(wanted))
        }
    }

    @Test func `a context that is bound to a key is the one that asks, and it ends the key's use`() throws {
        try onPretendedChip { chip in
            let context = LAContext()
            context.localizedReason = "sign the order"
            let key = try chipKey([.privateKeyUsage, .userPresence], context)
            for _ in 1...3 {
                _ = try outcome {
                    SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0)
                }.get()
            }
            #expect(chip.prompts == 1)
            #expect(chip.requests.last?.evaluation.reason == "sign the order")
            context.invalidate()
            let ended = outcome {
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0)
            }
            #expect(ended.code == "\(LAErrorDomain) \(LAError.invalidContext.rawValue)")
        }
    }

    @Test func `a key keeps its context`() throws {
        try onPretendedChip { chip in
            let key = try chipKey([.privateKeyUsage, .userPresence], LAContext())
            _ = try outcome {
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0)
            }.get()
            #expect(chip.prompts == 1)
        }
    }

    @Test func `without a prompt, a context that allows none is notInteractive`() throws {
        try onPretendedChip { chip in
            let context = LAContext()
            context.interactionNotAllowed = true
            let key = try chipKey([.privateKeyUsage, .userPresence], context)
            let refused = outcome {
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, $0)
            }
            #expect(refused.code == "\(LAErrorDomain) \(LAError.notInteractive.rawValue)")
            #expect(chip.prompts == 0)
        }
    }
}
