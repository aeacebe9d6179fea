// SPDX-License-Identifier: Apache-2.0

/// The part of the bytes from a bus that GLib may read: whole messages of a bounded length.
///
/// GLib unpacks a message as a whole before anyone looks at it, into 70 times its bytes where they are an array of variants,
/// and anyone on the bus can send a message of 128 MiB to any connection. A longer message is dropped as it comes, without
/// being kept. The sender of a call that is dropped gets no answer; a call of ours whose answer is dropped ends with its
/// time limit.
///
/// Source: D-Bus Specification, "Message Format".
struct BusMessageLimit {
    /// The bytes are no messages of D-Bus.
    struct NoMessage: Error, Hashable {}

    /// The longest call or signal, which anyone can send.
    static let longestCall = 16 << 10
    /// The longest answer; the bus lets answers through to calls of ours alone.
    static let longestAnswer = 256 << 10
    /// The longest message, and the longest array of header fields, that D-Bus allows.
    private static let longest = (message: UInt64(128 << 20), fields: UInt64(64 << 20))
    /// The bytes of a header that have the same places in each message.
    private static let headerSize = 16

    /// The first bytes of the present message, until its header is complete.
    private var header: [UInt8] = []
    /// The bytes that are to come of a message whose header is complete.
    private var left = 0
    private var passes = false
    private var hasDescriptors = false
    /// Whether the message whose header was complete last may bring descriptors: it is the answer to a call.
    private(set) var mayBringDescriptors = false

    /// The bytes until the end of the present message, or until its header is complete; at least 1.
    ///
    /// Reading no more than these keeps the next message, and its descriptors, in the socket.
    var wanted: Int { left > 0 ? left : Self.headerSize - header.count }

    /// Whether a header has begun and is not complete yet.
    var isInHeader: Bool { !header.isEmpty }

    /// Whether the bytes that came last are no messages; no further ones can be taken then.
    var isBroken: Bool { wanted == 0 }

    /// Takes the next bytes, in pieces of any length.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - bringingDescriptors: Whether descriptors came with them. A message that may not bring any is dropped.
    /// - Returns: The bytes that may be read, of these and of a header before them.
    /// - Throws: `NoMessage` where the bytes do not begin with a message; nothing that comes later can be understood.
    mutating func take(
        _ bytes: some Collection<UInt8>,
        bringingDescriptors: Bool = false
    ) throws(NoMessage) -> [UInt8] {
        // A header that is none is still there.
        guard !isBroken else { throw NoMessage() }
        hasDescriptors = hasDescriptors || bringingDescriptors
        var passed: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(wanted)
            rest = rest.dropFirst(part.count)
            if left > 0 {
                left -= part.count
                if passes { passed += part }
            } else {
                header += part
                guard header.count == Self.headerSize else { break }
                do throws(NoMessage) { try begin() } catch {
                    guard passed.isEmpty else { return passed }
                    throw error
                }
                if passes { passed += header }
                header = []
            }
            if left == 0, !isInHeader { hasDescriptors = false }
        }
        return passed
    }

    /// Begins with the message whose header is complete.
    private mutating func begin() throws(NoMessage) {
        let isLittle = header[0] == UInt8(ascii: "l")
        // No bus sends a message of the type 0 or of another version of the protocol.
        guard isLittle || header[0] == UInt8(ascii: "B"), header[1] != 0, header[3] == 1 else {
            throw NoMessage()
        }
        let (body, fields) = (number(at: 4, isLittle), number(at: 12, isLittle))
        // Both are below 2³², so the sums are far from the end of 64 bits.
        let rest = (fields + 7) / 8 * 8 + body
        guard fields <= Self.longest.fields, UInt64(Self.headerSize) + rest <= Self.longest.message else {
            throw NoMessage()
        }
        left = Int(rest)
        let length = Self.headerSize + left
        mayBringDescriptors = header[1] == 2
        switch header[1] {
        case 1, 4: passes = length <= Self.longestCall && !hasDescriptors
        case 2: passes = length <= Self.longestAnswer
        case 3: passes = length <= Self.longestAnswer && !hasDescriptors
        // The specification has other types ignored.
        default: passes = false
        }
    }

    /// Returns a number of four bytes in the header.
    private func number(at place: Int, _ isLittle: Bool) -> UInt64 {
        let bytes = header[place..<place + 4]
        return (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
