// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
package import WhorlSecretMemory

extension TPMCommands {
    /// Multiplies another party's public key by a key after satisfying the key's policy.
    ///
    /// The product is encrypted on the bus.
    ///
    /// It requires the same number of commands as ``sign(digest:with:under:meeting:with:)``.
    ///
    /// - Parameters:
    ///   - point: The other party's public key.
    ///   - key: A key agreement key.
    ///   - root: The key's parent.
    ///   - policy: The policy whose digest is in the key.
    ///   - credentials: The credentials that satisfy the policy.
    /// - Returns: The X coordinate of the product (32 bytes).
    /// - Throws: ``TPMError/Code-swift.enum/pointRefused`` if the TPM finds that the point is not on the curve, or the
    ///   errors of ``sign(digest:with:under:meeting:with:)``.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_ECDH_ZGen.
    package func sharedSecret(
        with point: ECPoint,
        of key: TPMObject,
        under root: StorageRoot,
        meeting policy: TPMPolicy,
        with credentials: Credentials
    ) throws(TPMError) -> SecretBytes {
        try connection.use(
            key,
            under: root,
            meeting: policy,
            with: credentials,
            encrypting: .encryptsResponse
        ) { (key, session) throws(TPMError) in
            try connection.multiply(point, with: key, session: session)
        }
    }
}

extension Connection {
    fileprivate func multiply(
        _ point: ECPoint,
        with key: ESYS_TR,
        session: ESYS_TR
    ) throws(TPMError) -> SecretBytes {
        let command = "TPM2_ECDH_ZGen"
        var other = TPM2B_ECC_POINT()
        try point.x.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&other.point.x.buffer, &other.point.x.size, with: bytes)
        }
        try point.y.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&other.point.y.buffer, &other.point.y.size, with: bytes)
        }
        var product: UnsafeMutablePointer<TPM2B_ECC_POINT>?
        try call(command) {
            Esys_ECDH_ZGen($0, key, session, Fixed.none, Fixed.none, &other, &product)
        }
        let coordinate = try CMemory.take(product, of: command) {
            SecretBytes(coordinate: $0.pointee.point.x)
        }
        guard let coordinate else { throw TPMError(.other, command: command, cause: "not a point on P-256") }
        return coordinate
    }
}

extension SecretBytes {
    /// Copies a coordinate from the TPM's structure and restores leading zeros that the TPM omitted.
    ///
    /// The structure's owner must wipe it.
    ///
    /// - Returns: The coordinate, or `nil` if the size is wrong for P-256.
    fileprivate init?(coordinate: borrowing TPM2B_ECC_PARAMETER) {
        let size = Int(coordinate.size)
        guard 1...32 ~= size else { return nil }
        self = Swift.withUnsafeBytes(of: coordinate.buffer) { number in
            SecretBytes(count: 32) { room in
                let place = UnsafeMutableRawBufferPointer(rebasing: room[(32 - size)...])
                place.copyMemory(from: UnsafeRawBufferPointer(rebasing: number.prefix(size)))
            }
        }
    }
}
