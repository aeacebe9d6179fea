// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// A new object, and the TPM's ticket that it has made it, which is good until the TPM is cleared.
public struct CreatedObject: Sendable {
    /// The object; it is not loaded.
    public let object: TPMObject
    let creationHash: TPM2B_DIGEST
    let ticket: TPMT_TK_CREATION
}

/// A statement of a TPM, and its signature.
public struct SignedStatement: Sendable, Hashable {
    /// The statement as TPMS_ATTEST.
    public let statement: [UInt8]
    /// The signature over it.
    public let signature: ECDSASignature
}

/// The identity of a TPM: the key that its maker has certified.
public struct Endorsement: Sendable, Hashable {
    /// The public area of the endorsement key, TPMT_PUBLIC.
    public let publicArea: [UInt8]
    /// The maker's certificate, X.509 in DER.
    public let certificate: [UInt8]
}
