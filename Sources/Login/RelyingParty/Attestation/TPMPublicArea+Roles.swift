// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The parts that an object can have in an attestation; the attributes that each needs.
extension TPMPublicArea {
    private static let bound: Attributes = [.fixedTPM, .fixedParent, .sensitiveDataOrigin]

    /// The policy of endorsement keys: PolicySecret of the endorsement hierarchy.
    ///
    /// Source: TCG EK Credential Profile 2.x, B.6.2 "PolicyA".
    private static let endorsementPolicy = Data([
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24, 0xfd,
        0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa,
    ])

    /// The endorsement key of one of the TCG's templates, for P-256 (L-2) or RSA (L-1); `nil` for any other object.
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

    /// The point of a key that signs only what its TPM states; `nil` for any other object.
    var attestationPoint: Data? {
        guard case .key(TPMAlgorithm.ecdsa, .none, let point) = kind,
            attributes.isSuperset(of: Self.bound.union([.restricted, .sign])), !attributes.contains(.decrypt)
        else { return nil }
        return point
    }

    /// The point of a key that signs under its policy alone; `nil` for any other object.
    ///
    /// Without `userWithAuth` the key's own value, which is empty, opens nothing.
    var guardedPoint: Data? {
        guard case .key(_, .none, let point) = kind, policy.count == 32,
            attributes.isSuperset(of: Self.bound.union([.adminWithPolicy, .sign])),
            attributes.isDisjoint(with: [.userWithAuth, .restricted])
        else { return nil }
        return point
    }

    /// Whether the object is an HMAC key of its TPM whose value can be shown in one way only.
    ///
    /// With a policy of its own the object could also be used by that policy.
    var isAuthority: Bool {
        kind == .hmac && policy.isEmpty
            && attributes.isSuperset(of: Self.bound.union([.userWithAuth, .sign]))
            && attributes.isDisjoint(with: [.adminWithPolicy, .restricted, .decrypt])
    }

    /// Whether the object is an authority whose wrong values the TPM counts.
    var isCountedAuthority: Bool { isAuthority && !attributes.contains(.noDA) }
}
