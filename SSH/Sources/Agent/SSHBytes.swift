// SPDX-License-Identifier: Apache-2.0

/// A parser of SSH's data types (RFC 4251, section 5).
struct SSHReader {
    private let bytes: Bytes
    private var place = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    /// The bytes that have not been read yet.
    var rest: Bytes { Bytes(bytes[place...]) }

    mutating func byte() -> UInt8? {
        guard place < bytes.count else { return nil }
        place += 1
        return bytes[place - 1]
    }

    mutating func number() -> Int? {
        guard bytes.count - place >= 4 else { return nil }
        var number = 0
        for byte in bytes[place..<place + 4] { number = number << 8 | Int(byte) }
        place += 4
        return number
    }

    mutating func string() -> Bytes? {
        let start = place
        guard let count = number(), bytes.count - place >= count else {
            place = start
            return nil
        }
        place += count
        return Bytes(bytes[place - count..<place])
    }
}

extension Bytes {
    mutating func append(number: Int) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func append(string: Bytes) {
        append(number: string.count)
        append(contentsOf: string)
    }

    /// Returns the message as it is sent: its length, and then its bytes.
    var framed: Bytes {
        var frame: Bytes = []
        frame.append(string: self)
        return frame
    }
}

/// A parser that assembles messages from the bytes of a stream.
struct SSHFraming {
    /// The maximum size of a message in bytes, as in OpenSSH.
    static let longest = 262_144

    private var bytes: Bytes = []
    private var place = 0

    /// The next result.
    enum Part {
        case message(Bytes)
        case incomplete
        /// The stream is not one of an agent's messages, and cannot be used any further.
        case broken
    }

    mutating func add(_ more: ArraySlice<UInt8>) { bytes.append(contentsOf: more) }

    /// The number of bytes that were not processed yet.
    var count: Int { bytes.count - place }

    mutating func next() -> Part {
        var reader = SSHReader(Bytes(bytes[place..<min(place + 4, bytes.count)]))
        guard let count = reader.number() else { return .incomplete }
        guard count > 0, count <= Self.longest else { return .broken }
        guard bytes.count - place - 4 >= count else {
            // Remove the messages that were already returned.
            bytes.removeSubrange(0..<place)
            place = 0
            return .incomplete
        }
        let message = Bytes(bytes[place + 4..<place + 4 + count])
        place += 4 + count
        if place == bytes.count {
            bytes = []
            place = 0
        }
        return .message(message)
    }
}
