// SPDX-License-Identifier: Apache-2.0

/// Appending of byte sequences and Base64, so that a secret never passes through ordinary memory on its way into a
/// request.
extension SecretBuffer {
    /// Appends bytes.
    ///
    /// - Returns: `false` if they do not fit; nothing is changed then.
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
    /// - Returns: `false` if it does not fit; nothing is changed then.
    @discardableResult
    public mutating func append(contentsOf secret: borrowing SecretBytes) -> Bool {
        secret.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Appends the number of bytes in 4 bytes (big-endian), and the bytes.
    ///
    /// - Returns: `false` if they do not fit; nothing is changed then.
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
    /// - Returns: `false` if they do not fit; nothing is changed then.
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
