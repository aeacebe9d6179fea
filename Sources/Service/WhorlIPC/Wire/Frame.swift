// SPDX-License-Identifier: Apache-2.0

/// One message on a connection: JSON, and the descriptors that came with it.
struct Frame: Sendable {
    /// The JSON, without the zero byte that ends it on the wire.
    var bytes: [UInt8]
    /// The descriptors, in the order in which they were sent.
    var descriptors: [Descriptor] = []
    /// The process that sent the message, by the kernel's word; 0 where the socket does not tell, or several sent parts of it.
    var sender: Int32 = 0
}

/// Cuts a stream into messages, which end with a zero byte.
///
/// It is total: for any bytes it gives messages or says why it stops.
struct FrameReader {
    /// A fault of a stream, which is not read on then.
    enum Fault: Error, Hashable {
        /// A message exceeds ``FrameReader/largest``.
        case tooLarge
        /// A message has no byte before its end.
        case empty
        /// A message brings more descriptors than ``FrameReader/mostDescriptors``.
        case tooManyDescriptors
    }

    /// The largest message in bytes.
    static let largest = 1 << 20
    /// The most descriptors of one message.
    static let mostDescriptors = 8

    private var partial = Frame(bytes: [])

    /// The number of bytes of a message whose end has not come yet.
    var pending: Int { partial.bytes.count }

    /// The number of descriptors that came with that message.
    var pendingDescriptors: Int { partial.descriptors.count }

    /// Takes what one `recvmsg(2)` gave.
    ///
    /// The kernel ends a read behind a part that brought descriptors, so these belong to the last message that begins in
    /// `chunk`, or to the one that `chunk` goes on with.
    ///
    /// - Returns: The messages whose end is in `chunk`.
    mutating func take(
        _ chunk: ArraySlice<UInt8>,
        _ descriptors: [Descriptor] = [],
        sender: Int32 = 0
    ) throws(Fault) -> [Frame] {
        var messages: [Frame] = []
        var rest = chunk
        /// The number of the last message that begins in the chunk: those that end here, then the partial one.
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
