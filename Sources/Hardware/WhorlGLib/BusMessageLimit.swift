// SPDX-License-Identifier: Apache-2.0

/// A filter for the bytes from a bus, which passes only whole messages of limited length to GLib.
///
/// GLib unpacks a whole message before a program can inspect it, and an unpacked array of variants takes up 70 times
/// its size. Anyone on the bus can send a message of 128 MiB to any connection. A message that exceeds the limit is
/// dropped while it arrives, without being stored. The sender of a dropped call receives no reply. If the reply to one
/// of our calls is dropped, that call times out.
///
/// Source: D-Bus Specification, "Message Format".
struct BusMessageLimit {
    /// An error thrown if the bytes are not D-Bus messages.
    struct NoMessage: Error, Hashable {}

    /// The maximum length of a call or signal, which anyone can send, in bytes.
    static let longestCall = 16 << 10
    /// The maximum length of a reply, in bytes.
    ///
    /// The bus delivers only replies to our own calls.
    static let longestAnswer = 256 << 10
    /// The maximum lengths of a message and of an array of header fields according to the D-Bus specification.
    private static let longest = (message: UInt64(128 << 20), fields: UInt64(64 << 20))
    /// The length of the fixed part of a header, in bytes.
    private static let headerSize = 16

    /// The bytes of the current message's header that have arrived so far.
    private var header: [UInt8] = []
    /// The number of bytes still missing from a message whose header is complete.
    private var left = 0
    private var passes = false
    private var hasDescriptors = false
    /// Whether the current message may contain descriptors because it is the reply to a call.
    private(set) var mayBringDescriptors = false

    /// The number of bytes needed to complete the current message or its header, at least 1.
    ///
    /// Reading no more bytes than this leaves the next message and its descriptors in the socket.
    var wanted: Int { left > 0 ? left : Self.headerSize - header.count }

    /// Whether a header has been started but is not complete yet.
    var isInHeader: Bool { !header.isEmpty }

    /// Whether the last bytes were not a message, so that nothing more can be read.
    var isBroken: Bool { wanted == 0 }

    /// Reads the next bytes, which may be split at any point.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - bringingDescriptors: Whether descriptors arrived with the bytes. A message that contains descriptors but may
    ///     not is dropped.
    /// - Returns: The bytes to pass on, including those of a header that was read before.
    /// - Throws: `NoMessage` if the bytes do not start with a message. No later bytes can be parsed in that case.
    mutating func take(
        _ bytes: some Collection<UInt8>,
        bringingDescriptors: Bool = false
    ) throws(NoMessage) -> [UInt8] {
        // The invalid header is still stored.
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

    /// Starts the current message once its header is complete.
    private mutating func begin() throws(NoMessage) {
        let isLittle = header[0] == UInt8(ascii: "l")
        // No bus sends message type 0 or another version of the protocol.
        guard isLittle || header[0] == UInt8(ascii: "B"), header[1] != 0, header[3] == 1 else {
            throw NoMessage()
        }
        let (body, fields) = (number(at: 4, isLittle), number(at: 12, isLittle))
        // Both are below 2³², so the sums fit easily into 64 bits.
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
        // The specification requires other types to be ignored.
        default: passes = false
        }
    }

    /// Returns a 32-bit number from the header.
    private func number(at place: Int, _ isLittle: Bool) -> UInt64 {
        let bytes = header[place..<place + 4]
        return (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
