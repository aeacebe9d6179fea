// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// A counter in the TPM's non-volatile memory, pinned by its name: 64 bits that only grow.
///
/// Whoever has the owner hierarchy can delete it and define it anew with the same name; the new one then starts above
/// every counter that the TPM ever had. So nobody can bring an old value back.
public struct NVCounter: Sendable, Hashable {
    /// The indices where Whorl's counters go; the owner's part of the TCG's registry (0x01800000 to 0x01BFFFFF).
    static let ownIndices: ClosedRange<UInt32> = 0x0180_5701...0x0180_57ff

    /// The index.
    public let index: UInt32
    /// The pinned name.
    public let name: TPMName
    /// What `Esys_TR_Serialize()` gave.
    let resource: [UInt8]

    init(index: UInt32, name: TPMName, resource: [UInt8]) {
        self.index = index
        self.name = name
        self.resource = resource
    }

    /// Reads what ``serialized`` gave.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/malformed``.
    public init(serialized: [UInt8]) throws(TPMError) {
        (index, name, resource) = try PinnedResource.read(serialized, kind: .counter)
    }

    /// The form to keep.
    public var serialized: [UInt8] { PinnedResource.bytes(.counter, index, name, resource) }

    /// Written only when its policy is met, read with its own empty value, without a count of wrong tries.
    static let attributes =
        UInt32(TPM2_NT_COUNTER) << 4 | TPMA_NV_POLICYWRITE | TPMA_NV_AUTHREAD | TPMA_NV_NO_DA

    /// The public area before the first increment.
    static func template(index: UInt32, writePolicy: PolicyDigest) throws(TPMError) -> TPM2B_NV_PUBLIC {
        var area = TPM2B_NV_PUBLIC()
        area.nvPublic.nvIndex = index
        area.nvPublic.nameAlg = TPM2_ALG_SHA256
        area.nvPublic.attributes = attributes
        area.nvPublic.authPolicy = try TPM2B_DIGEST(public: writePolicy.bytes)
        area.nvPublic.dataSize = 8
        return area
    }
}

/// What became of a pinned counter.
public enum NVCounterCheck: Sendable, Hashable {
    /// It is there, with this value.
    ///
    /// It may have been deleted and defined anew; the value then is higher than any before.
    case same(UInt64)
    /// Something else has its index.
    case other
    /// It was defined and never incremented: deleted and defined anew by somebody, or provisioning was cut off.
    case unwritten
    /// Its index is free.
    case missing
}
