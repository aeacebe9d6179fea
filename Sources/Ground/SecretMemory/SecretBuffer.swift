// SPDX-License-Identifier: Apache-2.0

/// A buffer for a secret that comes byte by byte, such as a passcode while it is typed.
///
/// It uses the same kind of memory as ``SecretBytes``, never moves, and never grows: bytes that do not fit are refused.
/// A removed byte is overwritten at once.
public struct SecretBuffer: ~Copyable, @unchecked Sendable {
    // Sendable: only this value uses the pages, and only its mutating functions write them.
    private let pages: UnsafeMutableRawBufferPointer

    /// The largest number of bytes that the buffer holds.
    public let capacity: Int
    /// The number of bytes in the buffer.
    public private(set) var count = 0

    /// Creates a buffer for at most `capacity` bytes, 1 or more.
    public init(capacity: Int) {
        precondition(capacity > 0, "room for nothing")
        self.capacity = capacity
        pages = SecretPages.allocate(atLeast: capacity)
        _ = SecretPages.lock(pages)
    }

    deinit { SecretPages.release(pages) }

    /// Appends a byte.
    ///
    /// - Returns: `false` if the buffer is full; nothing is changed then.
    public mutating func append(_ byte: UInt8) -> Bool {
        guard count < capacity else { return false }
        pages[count] = byte
        count += 1
        return true
    }

    /// Calls `body` to write bytes after the present ones.
    ///
    /// - Parameter body: Takes the free room, and returns the number of bytes that it wrote from the room's start; it
    ///   must not keep the pointer. An impossible number counts as 0.
    /// - Returns: The result of `body`.
    public mutating func append(_ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let room = UnsafeMutableRawBufferPointer(rebasing: pages[count..<capacity])
        let written = body(room)
        if (0...room.count).contains(written) { count += written }
        return written
    }

    /// Removes the last `number` bytes, or all if there are fewer.
    public mutating func removeLast(_ number: Int) {
        let kept = max(0, count - max(0, number))
        UnsafeMutableRawBufferPointer(rebasing: pages[kept..<count]).wipe()
        count = kept
    }

    /// Removes all bytes.
    public mutating func removeAll() { removeLast(count) }

    /// Calls `body` with the bytes as a span, which cannot escape.
    public borrowing func withBytes<Value: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]).bytes)
    }

    /// Returns the bytes as a separate secret, and empties the buffer.
    public mutating func take() -> SecretBytes {
        let secret = withBytes { SecretBytes(copying: $0) }
        removeAll()
        return secret
    }
}
