// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// Conversion of structures to bytes and back, by the marshalling functions of tpm2-tss, which check every size against
/// the available room.
enum Marshalling {
    typealias Unmarshal<Structure> = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Structure>?
    ) -> TSS2_RC
    typealias Marshal<Structure> = (
        UnsafePointer<Structure>?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
    ) -> TSS2_RC

    /// Reads a structure from the front of `bytes` and removes the bytes that were read.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/malformed``.
    static func read<Structure>(
        _ unmarshal: Unmarshal<Structure>,
        into structure: inout Structure,
        from bytes: inout ArraySlice<UInt8>
    ) throws(TPMError) {
        var offset = 0
        let code = bytes.withUnsafeBufferPointer { room in
            unmarshal(room.baseAddress, room.count, &offset, &structure)
        }
        guard !bytes.isEmpty, code == 0, 1...bytes.count ~= offset else { throw TPMError(.malformed) }
        bytes = bytes.dropFirst(offset)
    }

    /// Returns the bytes of a structure; at most 4 KiB, more than any of the TPM's structures that Whorl stores.
    static func bytes<Structure>(
        _ marshal: Marshal<Structure>,
        of structure: UnsafePointer<Structure>
    ) throws(TPMError) -> [UInt8] {
        var code: TSS2_RC = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { room, count in
            code = marshal(structure, room.baseAddress, room.count, &count)
            if code != 0 { count = 0 }
        }
        guard code == 0 else { throw TPMError(.malformed, cause: ResponseCode(raw: code).words) }
        return bytes
    }
}

extension FixedWidthInteger {
    /// The bytes, most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
