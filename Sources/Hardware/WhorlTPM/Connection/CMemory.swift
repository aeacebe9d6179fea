// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Glibc
internal import WhorlSecretMemory

/// Copies data out of tpm2-tss's memory and provides structures for secrets.
enum CMemory {
    /// Copies a value that ESAPI allocated, overwrites the original with zeros, and frees it (`Esys_Free`, transfer
    /// full).
    ///
    /// A null pointer after a success is reported as a library error and does not crash the program.
    static func take<Structure, Value: ~Copyable>(
        _ pointer: UnsafeMutablePointer<Structure>?,
        of command: String,
        _ read: (UnsafePointer<Structure>) -> Value
    ) throws(TPMError) -> Value {
        guard let pointer else { throw TPMError(.other, command: command, cause: "success without a value") }
        defer { release(pointer) }
        return read(pointer)
    }

    /// Overwrites and frees memory that ESAPI allocated.
    ///
    /// This does nothing if the pointer is null.
    static func release<Structure>(_ pointer: UnsafeMutablePointer<Structure>?) {
        guard let pointer else { return }
        explicit_bzero(pointer, MemoryLayout<Structure>.size)
        Esys_Free(pointer)
    }

    /// Calls `body` with a zeroed structure in locked memory, which is wiped afterward even if `body` throws.
    static func withSecret<Structure, Value: ~Copyable>(
        _ type: Structure.Type,
        _ body: (UnsafeMutablePointer<Structure>) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        var result: Value?
        _ = try SecretBytes(count: MemoryLayout<Structure>.stride) { (room) throws(TPMError) in
            guard let base = room.baseAddress else { preconditionFailure("a structure has a size") }
            result = try body(base.bindMemory(to: type, capacity: 1))
        }
        guard let result = result.take() else { preconditionFailure("the body has run") }
        return result
    }
}

/// Fills and reads TPM structures that consist of a size and a buffer, in place.
enum Sized {
    /// Copies bytes into a buffer and sets its size.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/tooLarge``.
    static func fill<Buffer>(
        _ buffer: inout Buffer,
        _ size: inout UInt16,
        with bytes: UnsafeRawBufferPointer
    ) throws(TPMError) {
        guard bytes.count <= MemoryLayout<Buffer>.size else { throw TPMError(.tooLarge) }
        withUnsafeMutableBytes(of: &buffer) { $0.copyMemory(from: bytes) }
        size = UInt16(bytes.count)
    }

    /// Returns the bytes of a buffer, limited to its capacity.
    static func bytes<Buffer>(_ buffer: borrowing Buffer, _ size: UInt16) -> [UInt8] {
        withUnsafeBytes(of: buffer) { [UInt8]($0.prefix(Int(size))) }
    }
}

extension TPM2B_DIGEST {
    /// Creates a digest, a nonce, an operand or another value that is not secret.
    init(public bytes: [UInt8]) throws(TPMError) {
        self.init()
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&buffer, &size, with: bytes)
        }
    }

    var bytes: [UInt8] { Sized.bytes(buffer, size) }
}

extension UnsafeMutablePointer<TPM2B_DIGEST> {
    /// Copies an authorization value in place, without trailing zeros, which the TPM drops as well (Part 1, 17.6.4.3).
    func fill(auth: borrowing SecretBytes) throws(TPMError) {
        try auth.withUnsafeBytes { (bytes) throws(TPMError) in
            let end = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
            try Sized.fill(
                &pointee.buffer,
                &pointee.size,
                with: UnsafeRawBufferPointer(rebasing: bytes[..<end])
            )
        }
    }
}

/// Converts between structures and bytes with tpm2-tss's marshalling functions, which check every size against the
/// available space.
enum Marshalling {
    typealias Unmarshal<Structure> = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Structure>?
    ) -> TSS2_RC
    typealias Marshal<Structure> = (
        UnsafePointer<Structure>?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
    ) -> TSS2_RC

    /// Reads a structure from the front of `bytes` and removes the bytes that it consists of.
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

    /// Returns the bytes of a structure, at most 4 KiB.
    ///
    /// No TPM structure that Whorl stores is larger.
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
    /// The number's bytes, most significant byte first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
