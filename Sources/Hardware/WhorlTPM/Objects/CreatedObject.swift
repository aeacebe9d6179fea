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
