// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// A 64-bit counter in the TPM's non-volatile memory, which can only increase and is pinned by its name.
///
/// A program with owner authorization can delete the counter and define it again with the same name. However, the new
/// counter starts above every counter that the TPM ever had, so an old value can never return.
package struct NVCounter: Sendable, Hashable {
    /// The NV indices of Whorl's counters, which ``TPMCommands/findCounters(writePolicy:)`` searches.
    ///
    /// They are in the owner's part of the TCG's registry (0x01800000 to 0x01BFFFFF).
    package static let ownIndices: ClosedRange<UInt32> = 0x0180_5701...0x0180_57ff

    /// The NV index.
    package let index: UInt32
    /// The pinned name.
    package let name: TPMName
    /// The result of `Esys_TR_Serialize()`.
    let resource: [UInt8]
}

extension NVCounter {
    /// Parses the ``serialized`` form.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/malformed``.
    package init(serialized: [UInt8]) throws(TPMError) {
        (index, name, resource) = try PersistentResource.read(serialized, kind: .counter)
    }

    /// The form in which the counter is stored.
    package var serialized: [UInt8] { PersistentResource.bytes(.counter, index, name, resource) }

    /// The counter's attributes: it is written only if the policy is satisfied, is read with its empty authorization
    /// value, and has no dictionary attack protection.
    static let attributes =
        UInt32(TPM2_NT_COUNTER) << 4 | TPMA_NV_POLICYWRITE | TPMA_NV_AUTHREAD | TPMA_NV_NO_DA

    /// Returns the public area before the first increment.
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

/// The result of checking a pinned counter.
package enum NVCounterCheck: Sendable, Hashable {
    /// The counter exists and has the given value.
    ///
    /// It may have been deleted and redefined, but its value is then higher than any previous one.
    case same(UInt64)
    /// The index is used by something else.
    case other
    /// The counter has never been incremented, because it was deleted and redefined or because provisioning was
    /// interrupted.
    case unwritten
    /// The index is unused.
    case missing
}
