// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// A child of the storage root in its stored form, which consists of a public area and a private area that only the TPM
/// can decrypt.
///
/// The bytes may come from anywhere. This type checks their format, and the TPM checks their origin when it loads them.
package struct TPMObject: Sendable, Hashable {
    /// The type of an object.
    package enum Kind: Sendable, Hashable {
        /// An HMAC key whose authorization value is required by policies.
        case authority
        /// Sealed data.
        case sealed
        /// A P-256 key for ECDSA with SHA-256.
        case signingKey
        /// A P-256 key for ECDSA and for ECDH.
        case agreementKey
        /// A P-256 key that signs only statements from its TPM.
        case attestationKey
    }

    /// The maximum size of the serialized form, in bytes.
    package static let maximumSize = 4096
    private static let version: UInt8 = 1

    /// The public area as a TPM2B_PUBLIC, as accepted by `tpm2_load -u`.
    package let publicBlob: [UInt8]
    /// The private area as a TPM2B_PRIVATE, as accepted by `tpm2_load -r`.
    package let privateBlob: [UInt8]
    /// The object's type.
    package let kind: Kind
    /// The object's name.
    package let name: TPMName
    /// The policy required to use the object, if it has one.
    package let policy: PolicyDigest?
    /// The public key, or `nil` if the object is not a key pair.
    package let publicPoint: ECPoint?

    /// Parses the ``serialized`` form.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/malformed`` unless the bytes are the complete form of a known type of
    ///   object.
    package init(serialized: [UInt8]) throws(TPMError) {
        guard serialized.count <= Self.maximumSize else { throw TPMError(.malformed, cause: "too large") }
        guard serialized.first == Self.version else { throw TPMError(.malformed, cause: "unknown version") }
        var rest = serialized.dropFirst()
        var publicArea = TPM2B_PUBLIC()
        var privateArea = TPM2B_PRIVATE()
        let start = rest.startIndex
        try Marshalling.read(Tss2_MU_TPM2B_PUBLIC_Unmarshal, into: &publicArea, from: &rest)
        let middle = rest.startIndex
        try Marshalling.read(Tss2_MU_TPM2B_PRIVATE_Unmarshal, into: &privateArea, from: &rest)
        guard rest.isEmpty else { throw TPMError(.malformed, cause: "too many bytes") }
        try self.init(
            publicArea,
            publicBlob: Array(serialized[start..<middle]),
            privateBlob: Array(serialized[middle...])
        )
    }

    /// Creates an object from the two areas that TPM2_Create returned.
    init(_ publicArea: UnsafePointer<TPM2B_PUBLIC>, _ privateArea: UnsafePointer<TPM2B_PRIVATE>)
        throws(TPMError)
    {
        try self.init(
            publicArea.pointee,
            publicBlob: Marshalling.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal, of: publicArea),
            privateBlob: Marshalling.bytes(Tss2_MU_TPM2B_PRIVATE_Marshal, of: privateArea)
        )
    }

    /// Creates the same object with the private area that TPM2_ObjectChangeAuth returned.
    init(_ object: TPMObject, privateBlob: [UInt8]) throws(TPMError) {
        try self.init(object.areas().public, publicBlob: object.publicBlob, privateBlob: privateBlob)
    }

    private init(_ area: TPM2B_PUBLIC, publicBlob: [UInt8], privateBlob: [UInt8]) throws(TPMError) {
        var area = area
        // Only one encoding is accepted: the name is computed from exactly the bytes that the TPM receives.
        guard try Marshalling.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal, of: &area) == publicBlob,
            privateBlob.count > 2,
            area.publicArea.nameAlg == TPM2_ALG_SHA256, let kind = Kind(area.publicArea)
        else { throw TPMError(.malformed, cause: "not an object of a known type") }
        self.kind = kind
        self.publicBlob = publicBlob
        self.privateBlob = privateBlob
        name = TPMName(ofPublicArea: publicBlob.dropFirst(2))
        let policy = area.publicArea.authPolicy.bytes
        self.policy = policy.isEmpty ? nil : PolicyDigest(bytes: policy)
        publicPoint =
            switch kind {
            case .signingKey, .agreementKey, .attestationKey: ECPoint(area.publicArea.unique.ecc)
            case .authority, .sealed: nil
            }
    }

    /// The public area (TPMT_PUBLIC), from which the name is computed.
    package var publicArea: [UInt8] { Array(publicBlob.dropFirst(2)) }

    /// The form in which the object is stored.
    ///
    /// Another TPM, or this one if the policy is not satisfied, does not reveal any secret from it.
    package var serialized: [UInt8] { [Self.version] + publicBlob + privateBlob }

    /// Returns the two areas as structures, for TPM2_Load.
    func areas() throws(TPMError) -> (public: TPM2B_PUBLIC, private: TPM2B_PRIVATE) {
        var publicArea = TPM2B_PUBLIC()
        var privateArea = TPM2B_PRIVATE()
        var publicBytes = publicBlob[...]
        var privateBytes = privateBlob[...]
        try Marshalling.read(Tss2_MU_TPM2B_PUBLIC_Unmarshal, into: &publicArea, from: &publicBytes)
        try Marshalling.read(Tss2_MU_TPM2B_PRIVATE_Unmarshal, into: &privateArea, from: &privateBytes)
        return (publicArea, privateArea)
    }
}

extension TPMObject.Kind {
    /// Creates the type of an object with this public area, or returns `nil` if the type is unknown.
    fileprivate init?(_ area: TPMT_PUBLIC) {
        switch area.type {
        case TPM2_ALG_KEYEDHASH where area.parameters.keyedHashDetail.scheme.scheme == TPM2_ALG_NULL:
            self = .sealed
        case TPM2_ALG_KEYEDHASH where area.parameters.keyedHashDetail.scheme.scheme == TPM2_ALG_HMAC:
            self = .authority
        case TPM2_ALG_ECC
        where area.parameters.eccDetail.curveID == TPM2_ECC_NIST_P256
            && area.objectAttributes & TPMA_OBJECT_SIGN_ENCRYPT != 0
            && area.objectAttributes & TPMA_OBJECT_RESTRICTED == 0:
            let agrees = area.objectAttributes & TPMA_OBJECT_DECRYPT != 0
            self = agrees ? .agreementKey : .signingKey
        case TPM2_ALG_ECC where area.objectAttributes == PublicArea.attestationKeyAttributes:
            self = .attestationKey
        default: return nil
        }
    }
}

/// A point on the curve P-256.
package struct ECPoint: Sendable, Hashable {
    /// The coordinates, 32 bytes each, big-endian.
    package let x: [UInt8], y: [UInt8]

    /// Parses a point in the uncompressed ANSI X9.63 format, which consists of the byte 4, x and y (65 bytes).
    ///
    /// - Returns: The point, or `nil` if the bytes have another format. The TPM checks whether the point is on the
    ///   curve.
    package init?(x963 bytes: [UInt8]) {
        guard bytes.count == 65, bytes[0] == 4 else { return nil }
        x = Array(bytes[1..<33])
        y = Array(bytes[33...])
    }

    init?(_ point: TPMS_ECC_POINT) {
        guard let x = padded(Sized.bytes(point.x.buffer, point.x.size), to: 32),
            let y = padded(Sized.bytes(point.y.buffer, point.y.size), to: 32)
        else { return nil }
        self.x = x
        self.y = y
    }
}

/// Returns the number with leading zeros so that it has `count` bytes, or `nil` if it has more.
func padded(_ number: [UInt8], to count: Int) -> [UInt8]? {
    number.count <= count ? Array(repeating: 0, count: count - number.count) + number : nil
}
