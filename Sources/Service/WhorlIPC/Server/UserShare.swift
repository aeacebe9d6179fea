// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSecretMemory
internal import WhorlSupport

/// The memory and the descriptors that all connections of one user hold together, so that many of them hold no more than one
/// may.
///
/// Messages count from their first byte until they have been answered, and answers until the client has read them. The
/// memory files of answers count until no program has them any longer, whatever becomes of the connection.
final class UserShare: Sendable {
    private struct Held {
        var bytes = 0
        var descriptors = 0
        /// Descriptors that wait to be closed, the one that is being closed first.
        var closing: [Int32] = []
        var lent = LentFiles()
        /// Whether a timer is set for the next look at what was lent.
        var isLooking = false

        var allBytes: Int { bytes + lent.size.bytes }
        var allDescriptors: Int { descriptors + closing.count + lent.size.descriptors }
    }

    private let mostBytes: Int
    private let mostDescriptors: Int
    private let held = Mutex(Held())

    /// Allows so many bytes and descriptors.
    init(mostBytes: Int, mostDescriptors: Int) {
        self.mostBytes = mostBytes
        self.mostDescriptors = mostDescriptors
    }

    /// The number of bytes that are held now.
    var bytesHeld: Int { held.withLock(\.allBytes) }

    /// The number of descriptors that are held now, with those that wait to be closed.
    var descriptorsHeld: Int { held.withLock(\.allDescriptors) }

    /// Whether nothing is held.
    var isEmpty: Bool { held.withLock { $0.allBytes == 0 && $0.allDescriptors == 0 } }

    /// Whether a message with descriptors may come; as long as too many wait to be closed, none may.
    var hasRoomForDescriptors: Bool {
        held.withLock { held in
            if held.allDescriptors >= mostDescriptors { held.lent.takeBack() }
            return held.allDescriptors < mostDescriptors
        }
    }

    // MARK: - Files of answers

    /// Keeps memory files that go to a client, and returns the descriptors for it.
    ///
    /// - Returns: `nil` where the user's programs hold as many already as they may.
    /// - Throws: the system's refusal.
    func lend(_ files: [Descriptor]) throws(SystemCallError) -> [Descriptor]? {
        guard !files.isEmpty else { return [] }
        let isFirst = held.withLock { held in
            defer { held.isLooking = true }
            return !held.isLooking
        }
        if isFirst { look(after: .milliseconds(100)) }
        return try held.withLock { held throws(SystemCallError) in
            var lent: [Descriptor] = []
            for file in files { lent.append(try held.lent.lend(file)) }
            if held.lent.isWorthALook { held.lent.takeBack() }
            return isWithin(&held) ? lent : nil
        }
    }

    /// Looks for files that were let go, ever less often as long as none is.
    private func look(after wait: Duration) {
        OffPoolTimer.run(after: wait) { [self] in
            let next: Duration? = held.withLock { held in
                let before = held.lent.size
                held.lent.takeBack()
                held.isLooking = held.lent.size.descriptors > 0
                guard held.isLooking else { return nil }
                return held.lent.size == before ? min(wait * 2, .seconds(10)) : .milliseconds(100)
            }
            if let next { look(after: next) }
        }
    }

    /// Wipes what programs have had for longer than a time: the memory would count for the service's next process too.
    func wipe(olderThan age: Duration) { held.withLock { $0.lent.wipe(olderThan: age) } }

    /// Whether what is held is within the share, when those files no longer count that were let go.
    private func isWithin(_ held: inout Held, bytes: Bool = true, descriptors: Bool = true) -> Bool {
        func isWithin() -> Bool {
            (!bytes || held.allBytes <= mostBytes) && (!descriptors || held.allDescriptors <= mostDescriptors)
        }
        if isWithin() { return true }
        held.lent.takeBack()
        return isWithin()
    }

    // MARK: - Other descriptors

    /// Closes a descriptor that a client has made, on a thread of this user.
    ///
    /// close(2) waits for a socket that lingers, and for the process behind a file system of the user (FUSE). So it keeps
    /// waiting what else the same user sent, and nothing else.
    func close(_ number: Int32) {
        let begins = held.withLock { held in
            held.closing.append(number)
            return held.closing.count == 1
        }
        if begins { beginClosing() }
    }

    private func beginClosing() {
        let isRunning = startThread("whorl.closing") { [self] in
            while let number = held.withLock(\.closing.first) {
                _ = Glibc.close(number)
                let isLast = held.withLock { held in
                    held.closing.removeFirst()
                    return held.closing.isEmpty
                }
                if isLast { return }
            }
        }
        if !isRunning { OffPoolTimer.run(after: .seconds(1)) { [self] in beginClosing() } }
    }

    /// Counts bytes and descriptors that came or went.
    ///
    /// - Returns: `false` when more came, and more are held now than may be; they count all the same until they go.
    func change(bytes: Int, descriptors: Int) -> Bool {
        held.withLock { held in
            held.bytes += bytes
            held.descriptors += descriptors
            return isWithin(&held, bytes: bytes > 0, descriptors: descriptors > 0)
        }
    }

    /// Counts the messages that came or went.
    func change(by messages: [Frame], _ sign: Int) -> Bool {
        change(
            bytes: sign * messages.reduce(0) { $0 + $1.bytes.count },
            descriptors: sign * messages.reduce(0) { $0 + $1.descriptors.count }
        )
    }
}

extension ServiceRefusal {
    /// The refusal of what exceeds a user's share of the service.
    ///
    /// - Parameter what: The share, such as `connections`.
    /// - Returns: The refusal, which names the share.
    static func quota(_ what: String) -> ServiceRefusal {
        ServiceRefusal(
            "io.whorl.Connection.QuotaReached",
            [
                "quota": what,
                "message": "The programs of this user hold as many \(what) of the service as one user may.",
                "recovery": "End the program that holds them; `journalctl -u whorld` names those that ask.",
            ]
        )
    }

    /// The refusal of a message of which more bytes come than one may have.
    static let largeMessage = ServiceRefusal(
        "io.whorl.Connection.MessageRefused",
        [
            "message": "The message is larger than 1 MiB.",
            "recovery": "Send large values in memory files beside the message.",
        ]
    )

    /// The refusal of a message whose end does not come.
    static let unfinishedMessage = ServiceRefusal(
        "io.whorl.Connection.MessageRefused",
        [
            "message": "The end of the message did not come in time.",
            "recovery": "Connect again, and send the whole message.",
        ]
    )

    /// The refusal of a connection where the service has as many as it can take from all users.
    static let crowded = ServiceRefusal(
        "io.whorl.Connection.QuotaReached",
        [
            "quota": "all connections",
            "message": "The service has as many connections as it takes from all users together.",
            "recovery": "Try again in a moment.",
        ]
    )
}

/// The contents of a call, which its handler lets go as soon as it has read them.
final class CallContents: Sendable {
    private let kept: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { kept = Mutex(bytes) }

    /// The JSON of the call; empty once it was let go.
    var bytes: [UInt8] { kept.withLock(\.self) }

    /// Frees the memory.
    func letGo() { kept.withLock { $0 = [] } }
}

/// The descriptors beside a call, each of which is closed as soon as no one needs it and counts for its user until then.
final class CallDescriptors: SecretAttachments {
    private let kept: Mutex<[Descriptor?]>
    private let share: UserShare?

    init(_ descriptors: [Descriptor], share: UserShare? = nil) {
        kept = Mutex(descriptors)
        self.share = share
    }

    /// Those that are still there, in their order.
    var all: [Descriptor] { kept.withLock { $0.compactMap(\.self) } }

    /// Gives one away; `nil` if it was given away or closed before.
    func take(_ place: Int) -> Descriptor? {
        let taken: Descriptor? = kept.withLock { kept in
            guard kept.indices.contains(place) else { return nil }
            defer { kept[place] = nil }
            return kept[place]
        }
        if taken != nil { _ = share?.change(bytes: 0, descriptors: -1) }
        return taken
    }

    /// The secret at a place; its descriptor is closed after it was read.
    ///
    /// - Throws: `InvalidParameter` for an unknown place, a secret that was read already, or a descriptor that is no sealed
    ///   memory file.
    func secret(at place: Int) throws -> SecretBytes {
        // The caller's file is wrong, for whatever reason.
        guard let file = take(place), let secret = try? SecretDescriptor.read(file) else {
            throw ServiceRefusal.invalidParameter("descriptor")
        }
        return secret
    }

    /// A message that was received takes no secret.
    func attach(_ secret: SecretBox) throws -> Int { throw ServiceRefusal.invalidParameter("descriptor") }

    /// Closes all but the first `count`.
    func close(behind count: Int) {
        let closed = kept.withLock { kept in
            let closed = kept.dropFirst(count).count { $0 != nil }
            kept = Array(kept.prefix(count))
            return closed
        }
        if closed > 0 { _ = share?.change(bytes: 0, descriptors: -closed) }
    }
}
