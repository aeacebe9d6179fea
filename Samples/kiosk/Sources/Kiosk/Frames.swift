// SPDX-License-Identifier: Apache-2.0

/// The bytes that have come from greetd, cut into messages.
public struct Frames: Sendable {
    /// The largest message that is taken; greetd's own are below 11 KB.
    public static let limit = 64 << 10

    private var bytes: [UInt8] = []
    private var isBroken = false

    /// Begins without a byte.
    public init() {}

    /// The results of a look at the bytes so far.
    public enum Next: Equatable, Sendable {
        /// The message is not whole yet.
        case more
        /// The next message, without its length.
        case message([UInt8])
        /// The length that was told is none of a message; nothing more is read.
        case broken
    }

    /// Takes bytes that have come.
    ///
    /// - Parameter new: The bytes.
    public mutating func append(_ new: some Sequence<UInt8>) {
        if !isBroken { bytes.append(contentsOf: new) }
    }

    /// Takes the next message out.
    ///
    /// - Returns: The message, or the reason why there is none.
    public mutating func next() -> Next {
        guard !isBroken else { return .broken }
        guard bytes.count >= 4 else { return .more }
        let length = bytes.withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self)) }
        guard (2...Self.limit).contains(length) else {
            (isBroken, bytes) = (true, [])
            return .broken
        }
        guard bytes.count >= 4 + length else { return .more }
        let message = Array(bytes[4..<4 + length])
        bytes.removeFirst(4 + length)
        return .message(message)
    }
}
