// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import WhorlSupport

/// The public area of an object in a TPM, TPMT_PUBLIC, of a kind that devices send.
///
/// The object is a P-256 key, an RSA key for children or credentials, or an HMAC key, and its name uses SHA-256.
/// Source: TPM 2.0 Library Part 2, 12.2 "Public Area Structures".
struct TPMPublicArea: Sendable, Hashable {
    /// The attributes of an object, TPMA_OBJECT (Part 2, 8.3).
    struct Attributes: OptionSet, Hashable {
        let rawValue: UInt32
        /// The object cannot leave its TPM.
        static let fixedTPM = Attributes(rawValue: 1 << 1)
        /// The object cannot be moved to another parent.
        static let fixedParent = Attributes(rawValue: 1 << 4)
        /// The secret part was created by the TPM itself.
        static let sensitiveDataOrigin = Attributes(rawValue: 1 << 5)
        /// The object's authorization value is sufficient to use it.
        static let userWithAuth = Attributes(rawValue: 1 << 6)
        /// Certifying the object and changing its authorization value require the policy.
        static let adminWithPolicy = Attributes(rawValue: 1 << 7)
        /// The TPM does not count wrong authorization values.
        static let noDA = Attributes(rawValue: 1 << 10)
        /// The key signs only data created by the TPM, or decrypts only data that the TPM understands.
        static let restricted = Attributes(rawValue: 1 << 16)
        /// The key decrypts, or is used for key agreement.
        static let decrypt = Attributes(rawValue: 1 << 17)
        /// The key signs.
        static let sign = Attributes(rawValue: 1 << 18)
    }

    /// The type of an object, with its parameters.
    enum Kind: Sendable, Hashable {
        /// A P-256 key with its scheme (``TPMAlgorithm/null`` for none), the symmetric algorithm for its children or
        /// credentials, and its point: 0x04 followed by x and y.
        case key(scheme: UInt16, symmetric: Symmetric, point: Data)
        /// A 2,048-bit RSA key with the exponent 65,537, without a scheme, and with AES-128-CFB for its children or
        /// credentials; the value is its modulus, 256 bytes.
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

    /// Parses a public area; returns `nil` for anything else, and for algorithms that our devices do not use.
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

    /// Returns a point as 0x04 followed by x and y; a TPM may omit leading zeros of a coordinate.
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
            // 0 means 65,537.
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

/// Algorithm IDs, TPM_ALG_ID and TPM_ECC_CURVE (Part 2, 6.3 and 6.4).
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

    /// Returns the name of an object or index with this public area: the algorithm followed by the digest (Part 1, 16
    /// "Names").
    static func name(of area: Data) -> Data { Data([0x00, 0x0b]) + SHA256.hash(data: area) }
}

/// The roles of objects in an attestation, and the attributes that each requires.
extension TPMPublicArea {
    private static let bound: Attributes = [.fixedTPM, .fixedParent, .sensitiveDataOrigin]

    /// The policy of endorsement keys: PolicySecret of the endorsement hierarchy.
    ///
    /// Source: TCG EK Credential Profile 2.x, B.6.2 "PolicyA".
    private static let endorsementPolicy = Data([
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24, 0xfd,
        0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa,
    ])

    /// The endorsement key, if the object follows one of the TCG's templates for P-256 (L-2) or RSA (L-1); otherwise
    /// `nil`.
    var endorsementKey: EndorsementKey? {
        guard policy == Self.endorsementPolicy,
            attributes == Self.bound.union([.adminWithPolicy, .restricted, .decrypt])
        else { return nil }
        return switch kind {
        case .key(TPMAlgorithm.null, .aes128CFB, let point): .p256(point: point)
        case .storageRSA(let modulus): .rsa2048(modulus: modulus)
        default: nil
        }
    }

    /// The point of a key that signs only its TPM's statements; `nil` for any other object.
    var attestationPoint: Data? {
        guard case .key(TPMAlgorithm.ecdsa, .none, let point) = kind,
            attributes.isSuperset(of: Self.bound.union([.restricted, .sign])), !attributes.contains(.decrypt)
        else { return nil }
        return point
    }

    /// The point of a key that signs only with its policy; `nil` for any other object.
    ///
    /// Without `userWithAuth`, the key's empty authorization value is not sufficient.
    var guardedPoint: Data? {
        guard case .key(_, .none, let point) = kind, policy.count == 32,
            attributes.isSuperset(of: Self.bound.union([.adminWithPolicy, .sign])),
            attributes.isDisjoint(with: [.userWithAuth, .restricted])
        else { return nil }
        return point
    }

    /// Whether the object is an HMAC key created by its TPM that can be used only with its authorization value.
    ///
    /// If it had a policy, it could also be used with that policy.
    var isAuthority: Bool {
        kind == .hmac && policy.isEmpty
            && attributes.isSuperset(of: Self.bound.union([.userWithAuth, .sign]))
            && attributes.isDisjoint(with: [.adminWithPolicy, .restricted, .decrypt])
    }

    /// Whether the object is an authority for which the TPM counts wrong values.
    var isCountedAuthority: Bool { isAuthority && !attributes.contains(.noDA) }
}

/// A TPM's statement that it created an object, TPMS_ATTEST of TPM2_CertifyCreation.
///
/// Source: TPM 2.0 Library Part 2, 10.12.12.
struct CreationStatement: Sendable, Hashable {
    private static let magic: UInt32 = 0xff54_4347
    private static let creation: UInt16 = 0x801a

    /// The bytes that the caller passed to the TPM to include.
    let extraData: Data
    /// The name of the object.
    let name: Data

    /// Parses a statement; returns `nil` for any other type, and for bytes that no TPM signs.
    init?(_ statement: Data) {
        var bytes = ByteReader(statement)
        guard bytes.number(UInt32.self) == Self.magic, bytes.number(UInt16.self) == Self.creation,
            // The signer's qualified name; clock, resets and restarts; the firmware version.
            bytes.sized(by: UInt16.self) != nil, let extraData = bytes.sized(by: UInt16.self),
            bytes.take(17) != nil, bytes.take(8) != nil, let name = bytes.sized(by: UInt16.self),
            bytes.sized(by: UInt16.self)?.count == 32, bytes.isAtEnd
        else { return nil }
        self.extraData = Data(extraData)
        self.name = Data(name)
    }
}
