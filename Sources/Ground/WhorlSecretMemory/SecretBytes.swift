// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Secret bytes that must not outlive their use: a key, a passcode, an authorization value.
///
/// They are stored in separate pages, which are excluded from swap (`mlock`) and from core dumps (`madvise
/// MADV_DONTDUMP`), and are overwritten with zeros when the value is destroyed. They have no description, are not
/// `Codable`, cannot be copied by accident, and are compared in constant time.
///
/// They are not protected against a debugger, root, or copies that a caller makes in ``withBytes(_:)``.
public struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Sendable: only this value uses the pages, which are written before its initializer returns, and never later.
    private let pages: UnsafeMutableRawBufferPointer

    /// The number of secret bytes.
    public let count: Int

    /// Whether the pages are kept out of swap.
    ///
    /// Locking fails if the limit for locked memory has been reached (`ulimit -l`). The secret can still be used, and
    /// `doctor` can report the failure.
    public let isLocked: Bool

    /// Allocates `count` zero bytes, and calls `body` to fill them.
    ///
    /// If `body` throws, the bytes that it wrote are wiped.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, 0 or more.
    ///   - body: Fills the bytes; it must not keep the pointer.
    /// - Throws: The error of `body`.
    public init<Failure: Error>(
        count: Int,
        initialisedBy body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(count >= 0, "a secret has no negative size")
        self.count = count
        self.pages = SecretPages.allocate(atLeast: count)
        self.isLocked = SecretPages.lock(pages)
        try body(UnsafeMutableRawBufferPointer(rebasing: pages[..<count]))
    }

    /// Creates a secret of `count` random bytes from the kernel.
    ///
    /// The source is `getrandom(2)` without flags. It may wait once after boot, until the kernel's generator is seeded.
    public init(randomCount count: Int) {
        self.init(count: count) { SecretPages.fillRandomly($0) }
    }

    /// Copies bytes from memory that the caller will wipe.
    public init(copying bytes: RawSpan) {
        self.init(count: bytes.byteCount) { room in
            bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        }
    }

    /// Calls `body` with the bytes as a pointer, for C.
    ///
    /// The pointer is valid only during the call of `body`.
    public borrowing func withUnsafeBytes<Value: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]))
    }

    /// Calls `body` with the bytes as a span, which cannot escape.
    public borrowing func withBytes<Value: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]).bytes)
    }

    /// Returns whether two secrets contain the same bytes.
    ///
    /// The time that this takes depends only on the sizes, not on the position of a difference.
    public static func areEqual(_ first: borrowing SecretBytes, _ second: borrowing SecretBytes) -> Bool {
        first.withBytes { left in second.withBytes { right in constantTimeEqual(left, right) } }
    }

    deinit {
        SecretPages.release(pages)
    }
}

/// Returns whether two spans contain the same bytes.
///
/// The time that this takes depends only on the sizes; spans of different sizes are unequal.
public func constantTimeEqual(_ first: RawSpan, _ second: RawSpan) -> Bool {
    guard first.byteCount == second.byteCount else { return false }
    var difference: UInt8 = 0
    for index in 0..<first.byteCount {
        difference |=
            first.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            ^ second.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }
    return difference == 0
}

/// A secret with several owners; the bytes are wiped when the last owner releases it.
public final class SecretBox: Sendable {
    /// The secret.
    public let bytes: SecretBytes

    /// Takes ownership of a secret.
    public init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
