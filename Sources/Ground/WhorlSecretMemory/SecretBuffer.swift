// SPDX-License-Identifier: Apache-2.0

/// A buffer for a secret that arrives byte by byte, such as a passcode while it is being typed.
///
/// It uses the same kind of memory as ``SecretBytes``, and never moves or grows: bytes that do not fit are rejected. A
/// removed byte is overwritten immediately.
public struct SecretBuffer: ~Copyable, @unchecked Sendable {
    // Sendable: only this value uses the pages, and only its mutating functions write to them.
    private let pages: UnsafeMutableRawBufferPointer

    /// The maximum number of bytes.
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
    /// - Returns: `false` if the buffer is full, in which case nothing is changed.
    public mutating func append(_ byte: UInt8) -> Bool {
        guard count < capacity else { return false }
        pages[count] = byte
        count += 1
        return true
    }

    /// Calls `body` to write bytes after the existing ones.
    ///
    /// - Parameter body: Receives the free space, and returns the number of bytes that it wrote at the start of it; it
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

/// Appending byte sequences and Base64.
///
/// With these, a secret never passes through ordinary memory on its way into a request.
extension SecretBuffer {
    /// Appends bytes.
    ///
    /// - Returns: `false` if they do not fit, in which case nothing is changed.
    @discardableResult
    public mutating func append(contentsOf bytes: some Collection<UInt8>) -> Bool {
        guard bytes.count <= capacity - count else { return false }
        return append { room in
            room.copyBytes(from: bytes)
            return bytes.count
        } == bytes.count
    }

    /// Appends a secret.
    ///
    /// - Returns: `false` if it does not fit, in which case nothing is changed.
    @discardableResult
    public mutating func append(contentsOf secret: borrowing SecretBytes) -> Bool {
        secret.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Appends the number of bytes as 4 bytes (big-endian), followed by the bytes themselves.
    ///
    /// - Returns: `false` if they do not fit, in which case nothing is changed.
    @discardableResult
    public mutating func append(sized bytes: some Collection<UInt8>) -> Bool {
        guard bytes.count <= capacity - count - 4 else { return false }
        return withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { append(contentsOf: $0) }
            && append(contentsOf: bytes)
    }

    /// Returns the number of characters that Base64 with padding needs for `count` bytes.
    public static func base64Size(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends bytes in Base64 with padding (RFC 4648, section 4).
    ///
    /// - Returns: `false` if they do not fit, in which case nothing is changed.
    @discardableResult
    public mutating func append(base64 source: UnsafeRawBufferPointer) -> Bool {
        let size = SecretBuffer.base64Size(of: source.count)
        guard size <= capacity - count else { return false }
        let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        return append { room in
            alphabet.withUTF8Buffer { alphabet in
                for group in 0..<size / 4 {
                    let start = group * 3
                    let given = min(3, source.count - start)
                    let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < given ? Int(source[start + $1]) : 0) }
                    for place in 0..<4 {
                        let digit = alphabet[bits >> (18 - 6 * place) & 63]
                        room[group * 4 + place] = place <= given ? digit : UInt8(ascii: "=")
                    }
                }
            }
            return size
        } == size
    }
}
