// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// Structures to bytes and back, by the marshalling functions of tpm2-tss, which check every size against the room there
/// is.
enum Marshalling {
    typealias Unmarshal<Structure> = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Structure>?
    ) -> TSS2_RC
    typealias Marshal<Structure> = (
        UnsafePointer<Structure>?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
    ) -> TSS2_RC

    /// Reads a structure from the front of `bytes`, which loses what was read.
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

    /// The bytes of a structure; at most 4 KiB, more than any of the TPM's structures that we store.
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

/// Takes fixed-size big-endian parts from the front of stored bytes.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next `count` bytes.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/malformed`` when there are fewer.
    mutating func take(_ count: Int) throws(TPMError) -> [UInt8] {
        guard rest.count >= count else { throw TPMError(.malformed, cause: "cut off") }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func integer<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) throws(TPMError)
        -> Number
    {
        try take(MemoryLayout<Number>.size).reduce(0) { $0 << 8 | Number($1) }
    }

    /// Two bytes of size and that many bytes, at most `limit`.
    mutating func sized(limit: Int) throws(TPMError) -> [UInt8] {
        let size = Int(try integer(UInt16.self))
        guard size <= limit else { throw TPMError(.malformed, cause: "a part is too large") }
        return try take(size)
    }

    /// - Throws: ``TPMError/Code-swift.enum/malformed`` when something is left.
    func end() throws(TPMError) {
        guard rest.isEmpty else { throw TPMError(.malformed, cause: "too many bytes") }
    }
}

extension FixedWidthInteger {
    /// The bytes, most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension Array<UInt8> {
    /// Two bytes of size, and the bytes.
    var sized: [UInt8] { UInt16(count).bigEndianBytes + self }
}
