// SPDX-License-Identifier: Apache-2.0

/// Room for a secret that comes byte by byte, such as a passcode while it is typed.
///
/// It lies in the same kind of memory as ``SecretBytes``, never moves, and never grows: what does not fit is refused.
/// A byte that is taken away is overwritten at once.
public struct SecretBuffer: ~Copyable, @unchecked Sendable {
    // Sendable: the pages belong to this value alone, and only its mutating functions write them.
    private let pages: UnsafeMutableRawBufferPointer

    /// The most bytes that it holds.
    public let capacity: Int
    /// The bytes that it holds.
    public private(set) var count = 0

    /// Makes room for at most `capacity` bytes, 1 or more.
    public init(capacity: Int) {
        precondition(capacity > 0, "room for nothing")
        self.capacity = capacity
        pages = SecretPages.allocate(atLeast: capacity)
        _ = SecretPages.lock(pages)
    }

    deinit { SecretPages.release(pages) }

    /// Puts a byte at the end.
    ///
    /// - Returns: `false`, and nothing is changed, when it is full.
    public mutating func append(_ byte: UInt8) -> Bool {
        guard count < capacity else { return false }
        pages[count] = byte
        count += 1
        return true
    }

    /// Lets `body` write after the bytes that are there.
    ///
    /// - Parameter body: Gets the free room, and gives the number of bytes that it wrote from the room's start; it must
    ///   not keep the pointer. A number that no write can have is taken as none.
    /// - Returns: What `body` gave.
    public mutating func append(_ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let room = UnsafeMutableRawBufferPointer(rebasing: pages[count..<capacity])
        let written = body(room)
        if (0...room.count).contains(written) { count += written }
        return written
    }

    /// Takes the last bytes away, all of them when there are fewer.
    public mutating func removeLast(_ number: Int) {
        let kept = max(0, count - max(0, number))
        UnsafeMutableRawBufferPointer(rebasing: pages[kept..<count]).wipe()
        count = kept
    }

    /// Takes all bytes away.
    public mutating func removeAll() { removeLast(count) }

    /// Lends the bytes as a span, which cannot leave `body`.
    public borrowing func withBytes<Value: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]).bytes)
    }

    /// Gives the bytes as a secret of its own, and is empty afterwards.
    public mutating func take() -> SecretBytes {
        let secret = withBytes { SecretBytes(copying: $0) }
        removeAll()
        return secret
    }
}
