// SPDX-License-Identifier: Apache-2.0

/// The bytes received from greetd, split into messages.
public struct Frames: Sendable {
    /// The maximum size of a message in bytes.
    ///
    /// Those of greetd are smaller than 11 KB.
    public static let limit = 64 << 10

    private var bytes: [UInt8] = []
    private var isBroken = false

    /// Creates an empty buffer.
    public init() {}

    /// The result of parsing the bytes received so far.
    public enum Next: Equatable, Sendable {
        /// The message is not complete yet.
        case more
        /// The next message, without its length.
        case message([UInt8])
        /// The length is not valid. Nothing more can be read.
        case broken
    }

    /// Appends received bytes.
    ///
    /// - Parameter new: The bytes.
    public mutating func append(_ new: some Sequence<UInt8>) {
        if !isBroken { bytes.append(contentsOf: new) }
    }

    /// Removes the next message from the buffer and returns it.
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
