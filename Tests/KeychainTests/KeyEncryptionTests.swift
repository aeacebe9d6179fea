// SPDX-License-Identifier: Apache-2.0

import PretendedChip
import Crypto
import Foundation
import KeychainServices
import Testing

private let message = Data("the combination is 7-12-31".utf8)

@Suite struct `Encrypting and agreeing` {
    private static let curves = [256, 384, 521]
    private static let ecies = ["ECDH", "ECDHC"].flatMap { way in
        ["SHA1", "SHA256", "SHA384", "SHA512"].flatMap { hash in
            ["", "-KDFIV"].map { "algid:encrypt:ECIES:\(way):KDFX963:\(hash):AESGCM\($0)" }
        }
    }

    @Test(arguments: ["256", "384", "521", "chip"])
    func `what is encrypted for a key opens with it, in Apple's sizes`(kind: String) throws {
        try onPretendedChip { _ in
            let key = try anyKey(kind)
            let half = try publicKey(key)
            for name in Self.ecies {
                let algorithm = SecKeyAlgorithm(rawValue: name as CFString)
                for data in [message, Data(), Data(count: 100_000)] {
                    let box = try outcome { SecKeyCreateEncryptedData(half, algorithm, data as CFData, $0) }
                        .get()
                    #expect(box.length == 1 + 2 * SecKeyGetBlockSize(key) + data.count + 16)
                    let open = try outcome { SecKeyCreateDecryptedData(key, algorithm, box, $0) }.get()
                    #expect(open as Data == data, "\(name)")
                }
            }
        }
    }

    @Test(arguments: curves, [false, true])
    func `an independent implementation opens what is encrypted, and the other way round`(
        bits: Int,
        isIVDerived: Bool
    ) throws {
        let key = try softwareKey(bits)
        let algorithm: SecKeyAlgorithm =
            isIVDerived
            ? .eciesEncryptionCofactorVariableIVX963SHA256AESGCM : .eciesEncryptionStandardX963SHA256AESGCM
        let half = try publicKey(key)
        let box = try outcome { SecKeyCreateEncryptedData(half, algorithm, message as CFData, $0) }.get()
        let number = try bytes(key).suffix(SecKeyGetBlockSize(key))
        let open = try Peer.run("open", bits, isIVDerived, number, box as Data)
        #expect(open == message)

        let theirs = try Peer.run("close", bits, isIVDerived, bytes(publicKey(key)), message)
        let mine = try outcome { SecKeyCreateDecryptedData(key, algorithm, theirs as CFData, $0) }.get()
        #expect(mine as Data == message)
    }

    @Test func `what was changed or cut does not open`() throws {
        let key = try softwareKey(256)
        let algorithm = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
        let half = try publicKey(key)
        let box =
            try outcome { SecKeyCreateEncryptedData(half, algorithm, message as CFData, $0) }.get() as Data
        for position in [0, 1, 64, 65, 70, box.count - 1] {
            var changed = box
            changed[position] ^= 1
            #expect(opened(changed, key, algorithm).code == status(errSecParam), "\(position)")
        }
        for size in [0, 1, 64, 65, 80] {
            #expect(opened(box.prefix(size), key, algorithm).code == status(errSecParam), "\(size)")
        }
        #expect(opened(box, try softwareKey(256), algorithm).code == status(errSecParam))
    }

    @Test func `RSA encrypts in each way that it says it does, and openssl opens it`() throws {
        let key = try softwareKey(kSecAttrKeyTypeRSA, 2048)
        let half = try publicKey(key)
        let options: [SecKeyAlgorithm: [String]] = [
            .rsaEncryptionPKCS1: ["-pkeyopt", "rsa_padding_mode:pkcs1"],
            .rsaEncryptionOAEPSHA1: ["-pkeyopt", "rsa_padding_mode:oaep"],
            .rsaEncryptionOAEPSHA256: [
                "-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256",
            ],
        ]
        for (algorithm, options) in options {
            let box = try outcome { SecKeyCreateEncryptedData(half, algorithm, message as CFData, $0) }.get()
            let mine = try opened(box as Data, key, algorithm).get()
            #expect(mine == message)
            try withFolder { folder in
                let file = folder.appending(path: "key")
                try bytes(key).write(to: file)
                let theirs = try run(
                    "openssl",
                    ["pkeyutl", "-decrypt", "-inkey", file.path, "-keyform", "DER"] + options,
                    input: box as Data
                )
                #expect(theirs == message)
            }
        }
        for algorithm in [.rsaEncryptionOAEPSHA1AESGCM, .rsaEncryptionOAEPSHA256AESGCM] as [SecKeyAlgorithm] {
            let long = Data(count: 10_000)
            let box =
                try outcome { SecKeyCreateEncryptedData(half, algorithm, long as CFData, $0) }.get() as Data
            #expect(box.count == 256 + long.count + 16)
            #expect(try opened(box, key, algorithm).get() == long)
            var changed = box
            changed[300] ^= 1
            #expect(opened(changed, key, algorithm).code == status(errSecParam))
        }
        let long = outcome {
            SecKeyCreateEncryptedData(half, .rsaEncryptionOAEPSHA256, Data(count: 191) as CFData, $0)
        }
        #expect(long.code == status(errSecParam))
    }

    @Test(arguments: curves) func `both sides of a key exchange have the same secret`(bits: Int) throws {
        let (mine, theirs) = try (softwareKey(bits), softwareKey(bits))
        for algorithm in [.ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactor] as [SecKeyAlgorithm] {
            let here = try exchanged(mine, theirs, algorithm).get()
            #expect(try here == exchanged(theirs, mine, algorithm).get())
            #expect(here.count == SecKeyGetBlockSize(mine))
        }
        let parameters: [CFString: Any] = [
            SecKeyKeyExchangeParameter.requestedSize.rawValue: 77,
            SecKeyKeyExchangeParameter.sharedInfo.rawValue: message,
        ]
        let derived = try exchanged(mine, theirs, .ecdhKeyExchangeStandardX963SHA256, parameters).get()
        let number = try bytes(mine).suffix(SecKeyGetBlockSize(mine))
        #expect(try derived == Peer.run("exchange", bits, false, number, bytes(publicKey(theirs)) + message))
    }

    @Test func `the chip agrees on the same secret as the library`() throws {
        try onPretendedChip { _ in
            let (chip, other) = try (chipKey(), softwareKey(256))
            let here = try exchanged(chip, other, .ecdhKeyExchangeStandard).get()
            #expect(try here == exchanged(other, chip, .ecdhKeyExchangeStandard).get())
        }
    }

    @Test func `nobody is asked for a secret with a key of another curve`() throws {
        try onPretendedChip { chip in
            let other = try bytes(publicKey(softwareKey(384)))
            let error = #expect(throws: NSError.self) { try chipKey().sharedSecret(withX963: other) }
            #expect(error?.code == Int(errSecParam))
            #expect(chip.requests.isEmpty)
        }
    }

    @Test func `parameters of a key exchange that make no sense are refused`() throws {
        let (mine, theirs) = try (softwareKey(256), softwareKey(256))
        let size = SecKeyKeyExchangeParameter.requestedSize.rawValue
        for parameters in [[:], [size: 0], [size: -1], [size: Int.max], [size: "many"]] as [[CFString: Any]] {
            let result = exchanged(mine, theirs, .ecdhKeyExchangeStandardX963SHA256, parameters)
            #expect(result.code == status(errSecParam))
        }
        let info: [CFString: Any] = [size: 5, SecKeyKeyExchangeParameter.sharedInfo.rawValue: 7]
        #expect(exchanged(mine, theirs, .ecdhKeyExchangeStandardX963SHA1, info).code == status(errSecParam))
        let other = try softwareKey(384)
        #expect(exchanged(mine, other, .ecdhKeyExchangeStandard).code == status(errSecParam))
        let rsa = try softwareKey(kSecAttrKeyTypeRSA, 2048)
        #expect(exchanged(mine, rsa, .ecdhKeyExchangeStandard).code == status(errSecParam))
        #expect(exchanged(rsa, mine, .ecdhKeyExchangeStandard).code == status(errSecParam))
    }

    private func opened(_ data: Data, _ key: SecKey, _ algorithm: SecKeyAlgorithm) -> Result<Data, NSError> {
        outcome { SecKeyCreateDecryptedData(key, algorithm, data as CFData, $0) }.map { $0 as Data }
    }

    private func exchanged(
        _ mine: SecKey,
        _ theirs: SecKey,
        _ algorithm: SecKeyAlgorithm,
        _ parameters: [CFString: Any] = [:]
    ) -> Result<Data, NSError> {
        outcome { error in
            SecKeyCopyPublicKey(theirs).flatMap {
                SecKeyCopyKeyExchangeResult(mine, algorithm, $0, parameters as CFDictionary, error)
            }
        }.map { $0 as Data }
    }
}

/// The other side: Debian's `cryptography` for Python, which has ECDH, the derivation and AES-GCM of its own (OpenSSL's).
private enum Peer {
    static func run(_ verb: String, _ bits: Int, _ isIVDerived: Bool, _ key: Data, _ data: Data) throws
        -> Data
    {
        let arguments = ["-c", program, verb, String(bits), isIVDerived ? "kdf" : "zero", key.hex]
        return try KeychainTests.run("/usr/bin/python3", arguments, input: data)
    }

    private static let program = """
        import sys
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        verb, bits, iv, key = sys.argv[1], int(sys.argv[2]), sys.argv[3], bytes.fromhex(sys.argv[4])
        data = sys.stdin.buffer.read()
        curve = {256: ec.SECP256R1, 384: ec.SECP384R1, 521: ec.SECP521R1}[bits]()
        point = 1 + 2 * ((bits + 7) // 8)
        size = 16 if bits == 256 else 32
        load = lambda b: ec.EllipticCurvePublicKey.from_encoded_point(curve, b)
        mine = lambda: ec.derive_private_key(int.from_bytes(key, "big"), curve)
        derive = lambda z, n, info: X963KDF(hashes.SHA256(), n, info).derive(z)
        def parts(z, ephemeral):
            made = derive(z, size + (16 if iv == "kdf" else 0), ephemeral)
            return AESGCM(made[:size]), (made[size:] if iv == "kdf" else bytes(16))
        if verb == "open":
            cipher, nonce = parts(mine().exchange(ec.ECDH(), load(data[:point])), data[:point])
            out = cipher.decrypt(nonce, data[point:], None)
        elif verb == "close":
            ephemeral = ec.generate_private_key(curve)
            front = ephemeral.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            cipher, nonce = parts(ephemeral.exchange(ec.ECDH(), load(key)), front)
            out = front + cipher.encrypt(nonce, data, None)
        else:
            out = derive(mine().exchange(ec.ECDH(), load(data[:point])), 77, data[point:])
        sys.stdout.buffer.write(out)
        """
}

extension Data {
    fileprivate var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
