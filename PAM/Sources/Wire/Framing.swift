// SPDX-License-Identifier: Apache-2.0

/// Puts messages together from the bytes of a stream.
struct Framing {
    /// The largest message that is taken, in bytes.
    private let longest: Int
    private var rest: Bytes = []
    /// Whether a message was too long; the stream is of no use then.
    private(set) var isBroken = false

    init(longest: Int = JSONReader.longest) { self.longest = longest }

    /// Takes a byte, and returns the message that it ends.
    mutating func take(_ byte: UInt8) -> Bytes? {
        guard !isBroken else { return nil }
        if byte == 0 {
            let message = rest
            rest = []
            return message
        }
        guard rest.count < longest else {
            isBroken = true
            return nil
        }
        rest.append(byte)
        return nil
    }
}
