// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import Glibc
internal import SecretMemory

/// The functions that take memory out of tpm2-tss, and lend it structures that hold secrets.
enum CMemory {
    /// Reads what ESAPI allocated, overwrites it with zeros, and frees it (`Esys_Free`; transfer full).
    ///
    /// A null pointer after a success is an error of the library, not a crash.
    static func take<Structure, Value: ~Copyable>(
        _ pointer: UnsafeMutablePointer<Structure>?,
        of command: String,
        _ read: (UnsafePointer<Structure>) -> Value
    ) throws(TPMError) -> Value {
        guard let pointer else { throw TPMError(.other, command: command, cause: "no value after success") }
        defer { release(pointer) }
        return read(pointer)
    }

    /// Overwrites and frees memory that ESAPI allocated; does nothing for a null pointer.
    static func release<Structure>(_ pointer: UnsafeMutablePointer<Structure>?) {
        guard let pointer else { return }
        explicit_bzero(pointer, MemoryLayout<Structure>.size)
        Esys_Free(pointer)
    }

    /// Lends a zeroed structure in locked memory that is wiped afterwards, also when `body` throws.
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

/// The TPM structures that consist of a size and a buffer, filled and read in place.
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

    /// The bytes of a buffer, at most as many as it can hold.
    static func bytes<Buffer>(_ buffer: borrowing Buffer, _ size: UInt16) -> [UInt8] {
        withUnsafeBytes(of: buffer) { [UInt8]($0.prefix(Int(size))) }
    }
}

extension TPM2B_DIGEST {
    /// Makes a digest, nonce, operand or other value that is not secret.
    init(public bytes: [UInt8]) throws(TPMError) {
        self.init()
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&buffer, &size, with: bytes)
        }
    }

    var bytes: [UInt8] { Sized.bytes(buffer, size) }
}

extension UnsafeMutablePointer<TPM2B_DIGEST> {
    /// Copies an authorization value in place, without the zeros at its end, which the TPM drops too (Part 1,
    /// 17.6.4.3).
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
