// SPDX-License-Identifier: Apache-2.0

/// A parser that assembles messages from the bytes of a stream.
struct Framing {
    /// The maximum size of a message in bytes.
    private let longest: Int
    private var rest: Bytes = []
    /// Whether a message was too long.
    ///
    /// The stream cannot be used any further.
    private(set) var isBroken = false

    init(longest: Int = JSONReader.longest) { self.longest = longest }

    /// Processes a byte, and returns the message that it completes, if any.
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
