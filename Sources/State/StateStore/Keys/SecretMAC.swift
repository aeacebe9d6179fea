// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SecretMemory

/// HMAC-SHA-256 (RFC 2104) with a key that is not copied.
///
/// The library's `HMAC` copies the key and the two padded keys into ordinary memory and leaves them there, so that they
/// appear in core files. Here the padded keys are part of the secret: the key (32 bytes), then the key with the inner
/// and with the outer padding (64 bytes each). ``SecretHash`` leaves nothing of them behind.
struct SecretMAC {
    private static let keySize = 32
    /// The block size of SHA-256.
    private static let blockSize = 64
    /// The size of one key with its paddings, in bytes.
    static let size = keySize + 2 * blockSize

    private let bytes: UnsafeRawBufferPointer

    /// Uses the output of ``derive(from:info:into:)``, ``size`` bytes that the caller keeps alive.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The key itself, 32 bytes.
    var key: UnsafeRawBufferPointer { part(0, SecretMAC.keySize) }

    /// Returns the code of a message, 32 bytes.
    func code(for message: Data) -> SHA256.Digest {
        message.withUnsafeBytes { SecretMAC.code(for: $0, inner: inner, outer: outer) }
    }

    /// Derives a key and its paddings by HKDF-SHA-256 (RFC 5869) without salt.
    ///
    /// - Parameters:
    ///   - parent: The key to derive from.
    ///   - info: The purpose of the new key.
    ///   - room: ``size`` bytes, which are overwritten.
    static func derive(
        from parent: UnsafeRawBufferPointer,
        info: String,
        into room: UnsafeMutableRawBufferPointer
    ) {
        let made = SecretMAC(UnsafeRawBufferPointer(room))
        // Extract: without a salt, this is the code with a key of zeros.
        pad(with: nil, room)
        keep(parent, made, in: room)
        // Expand: one block is enough.
        (Data(info.utf8) + [1]).withUnsafeBytes { keep($0, made, in: room) }
    }

    /// Computes the code of a message, and stores it as the new key.
    private static func keep(
        _ message: UnsafeRawBufferPointer,
        _ old: SecretMAC,
        in room: UnsafeMutableRawBufferPointer
    ) {
        var digest = code(for: message, inner: old.inner, outer: old.outer)
        digest.withUnsafeBytes { pad(with: $0, room) }
        withUnsafeMutableBytes(of: &digest) { $0.wipe() }
    }

    /// Writes a key, or zeros, with its paddings.
    private static func pad(with key: UnsafeRawBufferPointer?, _ room: UnsafeMutableRawBufferPointer) {
        for index in 0..<keySize { room[index] = key?[index] ?? 0 }
        for index in 0..<blockSize {
            let byte = index < keySize ? room[index] : 0
            room[keySize + index] = byte ^ 0x36
            room[keySize + blockSize + index] = byte ^ 0x5C
        }
    }

    private static func code(
        for message: UnsafeRawBufferPointer,
        inner: UnsafeRawBufferPointer,
        outer: UnsafeRawBufferPointer
    ) -> SHA256.Digest {
        var first = SecretHash<SHA256>()
        first.update(inner)
        first.update(message)
        var digest = first.finalize()
        var second = SecretHash<SHA256>()
        second.update(outer)
        digest.withUnsafeBytes { second.update($0) }
        withUnsafeMutableBytes(of: &digest) { $0.wipe() }
        return second.finalize()
    }

    private var inner: UnsafeRawBufferPointer { part(SecretMAC.keySize, SecretMAC.blockSize) }

    private var outer: UnsafeRawBufferPointer {
        part(SecretMAC.keySize + SecretMAC.blockSize, SecretMAC.blockSize)
    }

    private func part(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}
