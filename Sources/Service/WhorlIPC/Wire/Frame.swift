// SPDX-License-Identifier: Apache-2.0

/// One message on a connection: the JSON, and the descriptors received with it.
struct Frame: Sendable {
    /// The JSON, without the terminating zero byte.
    var bytes: [UInt8]
    /// The descriptors, in the order in which they were sent.
    var descriptors: [Descriptor] = []
    /// The process that sent the message, as reported by the kernel; 0 if it is unknown or several processes sent parts
    /// of the message.
    var sender: Int32 = 0
}

/// Splits a stream into messages, which end with a zero byte.
///
/// It handles any input: for all possible bytes, it returns messages or the reason why it stops.
struct FrameReader {
    /// An error in a stream, after which the stream is not read any further.
    enum Fault: Error, Hashable {
        /// A message exceeds ``FrameReader/largest``.
        case tooLarge
        /// A message is empty.
        case empty
        /// A message has more descriptors than ``FrameReader/mostDescriptors``.
        case tooManyDescriptors
    }

    /// The maximum size of a message, in bytes.
    static let largest = 1 << 20
    /// The maximum number of descriptors per message.
    static let mostDescriptors = 8

    private var partial = Frame(bytes: [])

    /// The number of bytes of an incomplete message.
    var pending: Int { partial.bytes.count }

    /// The number of descriptors received with the incomplete message.
    var pendingDescriptors: Int { partial.descriptors.count }

    /// Processes the result of one call to `recvmsg(2)`.
    ///
    /// The kernel ends a read after data that was sent with descriptors. So the descriptors belong to the last message
    /// that begins in `chunk`, or to the message that `chunk` continues.
    ///
    /// - Returns: The messages that end in `chunk`.
    mutating func take(
        _ chunk: ArraySlice<UInt8>,
        _ descriptors: [Descriptor] = [],
        sender: Int32 = 0
    ) throws(Fault) -> [Frame] {
        var messages: [Frame] = []
        var rest = chunk
        /// The index of the last message that begins in the chunk; the partial message comes after those that end in
        /// the chunk.
        var owner = 0
        while !rest.isEmpty {
            if partial.bytes.isEmpty { owner = messages.count }
            let end = rest.firstIndex(of: 0)
            let part = rest[..<(end ?? rest.endIndex)]
            guard partial.bytes.count + part.count <= Self.largest else { throw .tooLarge }
            let isFirst = partial.bytes.isEmpty
            partial.sender = isFirst || partial.sender == sender ? sender : 0
            partial.bytes += part
            guard let end else { break }
            guard !partial.bytes.isEmpty else { throw .empty }
            messages.append(partial)
            partial = Frame(bytes: [])
            rest = rest[(end + 1)...]
        }
        if owner < messages.count {
            messages[owner].descriptors += descriptors
            guard messages[owner].descriptors.count <= Self.mostDescriptors else { throw .tooManyDescriptors }
        } else {
            partial.descriptors += descriptors
            guard partial.descriptors.count <= Self.mostDescriptors else { throw .tooManyDescriptors }
        }
        return messages
    }
}
