// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import WhorlSupport

/// The public area of an object in a TPM, TPMT_PUBLIC, as far as devices send it: a P-256 key, an RSA key for children
/// or credentials, or an HMAC key, named by SHA-256.
///
/// Source: TPM 2.0 Library Part 2, 12.2 "Public Area Structures".
struct TPMPublicArea: Sendable, Hashable {
    /// The attributes of an object, TPMA_OBJECT (Part 2, 8.3).
    struct Attributes: OptionSet, Hashable {
        let rawValue: UInt32
        /// The object cannot leave its TPM.
        static let fixedTPM = Attributes(rawValue: 1 << 1)
        /// The object cannot get another parent.
        static let fixedParent = Attributes(rawValue: 1 << 4)
        /// The TPM itself has made the secret part.
        static let sensitiveDataOrigin = Attributes(rawValue: 1 << 5)
        /// The object's own value is enough to use it.
        static let userWithAuth = Attributes(rawValue: 1 << 6)
        /// Only the policy allows to certify the object or to change its value.
        static let adminWithPolicy = Attributes(rawValue: 1 << 7)
        /// Wrong values are not counted.
        static let noDA = Attributes(rawValue: 1 << 10)
        /// The key signs only what the TPM has made, or decrypts only what the TPM understands.
        static let restricted = Attributes(rawValue: 1 << 16)
        /// The key decrypts, or agrees on secrets.
        static let decrypt = Attributes(rawValue: 1 << 17)
        /// The key signs.
        static let sign = Attributes(rawValue: 1 << 18)
    }

    /// The kind of an object, with what is told of it.
    enum Kind: Sendable, Hashable {
        /// A P-256 key: its scheme, ``TPMAlgorithm/null`` for none; the symmetric algorithm for its children or
        /// credentials; and the point, 4, x, y.
        case key(scheme: UInt16, symmetric: Symmetric, point: Data)
        /// An RSA key of 2,048 bits with the exponent 65,537, without a scheme, and AES-128-CFB for its children or
        /// credentials: the modulus, 256 bytes.
        case storageRSA(modulus: Data)
        /// An HMAC key with SHA-256.
        case hmac
    }

    /// The symmetric algorithm of a key.
    enum Symmetric: Sendable, Hashable {
        case none
        case aes128CFB
    }

    let attributes: Attributes
    let policy: Data
    let kind: Kind
    /// The object's name, 34 bytes.
    let name: Data

    /// Reads a public area; `nil` for anything else, and for algorithms that no device of ours uses.
    init?(_ area: Data) {
        var bytes = ByteReader(area)
        guard let type = bytes.number(UInt16.self), bytes.number(UInt16.self) == TPMAlgorithm.sha256,
            let attributes = bytes.number(UInt32.self), let policy = bytes.sized(by: UInt16.self),
            [0, 32].contains(policy.count)
        else { return nil }
        let kind: Kind?
        switch type {
        case TPMAlgorithm.ecc: kind = Self.key(&bytes)
        case TPMAlgorithm.rsa: kind = Self.storageRSA(&bytes)
        case TPMAlgorithm.keyedHash: kind = Self.hmac(&bytes)
        default: kind = nil
        }
        guard let kind, bytes.isAtEnd else { return nil }
        self.attributes = Attributes(rawValue: attributes)
        self.policy = Data(policy)
        self.kind = kind
        name = TPMAlgorithm.name(of: area)
    }

    private static func key(_ bytes: inout ByteReader<Data>) -> Kind? {
        let symmetric: Symmetric
        switch bytes.number(UInt16.self) {
        case TPMAlgorithm.null: symmetric = .none
        case TPMAlgorithm.aes:
            guard isAES128CFB(&bytes) else { return nil }
            symmetric = .aes128CFB
        default: return nil
        }
        guard let scheme = bytes.number(UInt16.self) else { return nil }
        switch scheme {
        case TPMAlgorithm.null: break
        case TPMAlgorithm.ecdsa: guard bytes.number(UInt16.self) == TPMAlgorithm.sha256 else { return nil }
        default: return nil
        }
        guard bytes.number(UInt16.self) == TPMAlgorithm.p256, bytes.number(UInt16.self) == TPMAlgorithm.null,
            let x = bytes.sized(by: UInt16.self), let y = bytes.sized(by: UInt16.self),
            let point = point(x, y)
        else { return nil }
        return .key(scheme: scheme, symmetric: symmetric, point: point)
    }

    /// Returns 4, x, y; a TPM may leave out the zeros at the front of a coordinate.
    private static func point(_ x: Data, _ y: Data) -> Data? {
        guard 1...32 ~= x.count, 1...32 ~= y.count else { return nil }
        return [x, y].reduce(into: Data([4])) { $0 += Data(count: 32 - $1.count) + $1 }
    }

    private static func isAES128CFB(_ bytes: inout ByteReader<Data>) -> Bool {
        bytes.number(UInt16.self) == 128 && bytes.number(UInt16.self) == TPMAlgorithm.cfb
    }

    private static func storageRSA(_ bytes: inout ByteReader<Data>) -> Kind? {
        guard bytes.number(UInt16.self) == TPMAlgorithm.aes, isAES128CFB(&bytes),
            bytes.number(UInt16.self) == TPMAlgorithm.null, bytes.number(UInt16.self) == 2048,
            // 0 stands for 65,537.
            bytes.number(UInt32.self) == 0,
            let modulus = bytes.sized(by: UInt16.self), modulus.count == 256
        else { return nil }
        return .storageRSA(modulus: Data(modulus))
    }

    private static func hmac(_ bytes: inout ByteReader<Data>) -> Kind? {
        guard bytes.number(UInt16.self) == TPMAlgorithm.hmac,
            bytes.number(UInt16.self) == TPMAlgorithm.sha256,
            bytes.sized(by: UInt16.self)?.count == 32
        else { return nil }
        return .hmac
    }
}

/// The numbers of algorithms, TPM_ALG_ID and TPM_ECC_CURVE (Part 2, 6.3 and 6.4).
enum TPMAlgorithm {
    static let rsa: UInt16 = 0x0001
    static let hmac: UInt16 = 0x0005
    static let aes: UInt16 = 0x0006
    static let keyedHash: UInt16 = 0x0008
    static let sha256: UInt16 = 0x000b
    static let null: UInt16 = 0x0010
    static let ecdsa: UInt16 = 0x0018
    static let ecc: UInt16 = 0x0023
    static let cfb: UInt16 = 0x0043
    static let p256: UInt16 = 0x0003

    /// Returns the name of an object or index with this public area: the algorithm and the digest (Part 1, 16 "Names").
    static func name(of area: Data) -> Data { Data([0x00, 0x0b]) + SHA256.hash(data: area) }
}
