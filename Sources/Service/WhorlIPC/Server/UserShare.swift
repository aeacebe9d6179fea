// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSecretMemory
internal import WhorlSupport

/// The memory and the descriptors that all connections of one user hold together, so that many of them hold no more than one
/// may.
///
/// Messages count from their first byte until they have been answered, and answers until the client has read them. What it
/// holds after that is no single user's for the kernel: see ``ClientMemory``.
final class UserShare: Sendable {
    private struct Held {
        var bytes = 0
        var descriptors = 0
        /// Descriptors that wait to be closed, the one that is being closed first.
        var closing: [Int32] = []
        /// The bytes that were sent since clients last held little.
        var sent = Sent()
    }

    /// The bytes that a user was sent since a look that found little; with time they count less.
    private struct Sent {
        /// The bytes a second that no longer count.
        private static let forgotten = 16_384.0

        private var bytes = 0.0
        private var last = ContinuousClock.now
        var calms: UInt64 = 0

        mutating func add(_ more: Int, _ calms: UInt64) {
            bytes = (calms == self.calms ? Double(now) : 0) + Double(more)
            (last, self.calms) = (.now, calms)
        }

        var now: Int { Int(max(0, bytes - (ContinuousClock.now - last) / .seconds(1) * Self.forgotten)) }
    }

    private let mostBytes: Int
    private let mostDescriptors: Int
    private let memory: ClientMemory?
    let refusals: Refusals
    private let held = Mutex(Held())

    /// Allows so many bytes and descriptors.
    init(
        mostBytes: Int,
        mostDescriptors: Int,
        memory: ClientMemory? = nil,
        refusals: Refusals = Refusals(most: 512)
    ) {
        self.refusals = refusals
        self.mostBytes = mostBytes
        self.mostDescriptors = mostDescriptors
        self.memory = memory
    }

    /// Whether the user's programs may be sent something: not where much of what was sent is held, and they may hold it.
    var mayReceive: Bool {
        guard let memory, let allowance = memory.allowance else { return true }
        let calms = memory.calms
        return held.withLock { $0.sent.calms != calms || $0.sent.now < allowance }
    }

    /// Counts an answer and the memory files beside it.
    func countSent(_ bytes: Int, _ files: [Descriptor]) {
        guard let memory else { return }
        // The kernel needs a few kilobytes for each message and each file.
        let size = files.reduce(bytes + 4096) { $0 + 4096 + SecretDescriptor.memory(of: $1) }
        memory.count(size)
        let calms = memory.calms
        held.withLock { $0.sent.add(size, calms) }
    }

    /// The number of bytes that are held now.
    var bytesHeld: Int { held.withLock(\.bytes) }

    /// The number of descriptors that are held now, with those that wait to be closed.
    var descriptorsHeld: Int { held.withLock { $0.descriptors + $0.closing.count } }

    /// Whether a descriptor waits to be closed.
    var isClosing: Bool { held.withLock { !$0.closing.isEmpty } }

    /// Whether nothing is held, and nothing that was sent counts.
    var isEmpty: Bool {
        held.withLock { $0.bytes == 0 && $0.descriptors == 0 && $0.closing.isEmpty && $0.sent.now == 0 }
    }

    /// Whether a message with descriptors may come; as long as too many wait to be closed, none may.
    var hasRoomForDescriptors: Bool { descriptorsHeld < mostDescriptors }

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
            return (bytes <= 0 || held.bytes <= mostBytes)
                && (descriptors <= 0 || held.descriptors + held.closing.count <= mostDescriptors)
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
            quota: what,
            message: "This user's programs reached the service's limit of \(what).",
            recovery: "Quit the program that holds them; `journalctl -u whorld` lists callers."
        )
    }

    /// The refusal of a user whose programs may keep what the service has sent, as long as so much is kept.
    static let keptMemory = ServiceRefusal(
        "io.whorl.Connection.QuotaReached",
        quota: "memory",
        message:
            "This user's programs hold too much data that the service has sent.",
        recovery: "Quit the program that holds it; `journalctl -u whorld` lists callers."
    )

    /// The refusal of a message of which more bytes come than one may have.
    static let largeMessage = ServiceRefusal(
        "io.whorl.Connection.MessageRefused",
        message: "The message is larger than 1 MiB.",
        recovery: "Send large values as file descriptors."
    )

    /// The refusal of a message whose end does not come.
    static let unfinishedMessage = ServiceRefusal(
        "io.whorl.Connection.MessageRefused",
        message: "The message was not completed in time.",
        recovery: "Connect again, and send the whole message."
    )

    /// The refusal of a connection where the service has as many as it can take from all users.
    static let crowded = ServiceRefusal(
        "io.whorl.Connection.QuotaReached",
        quota: "all connections",
        message: "The service's connection limit for all users is reached.",
        recovery: "Try again in a moment."
    )
}

/// The contents of a call, which its handler lets go as soon as it has read them.
final class CallContents: Sendable {
    private struct Kept {
        var bytes: [UInt8]
        var onLetGo: (@Sendable () -> Void)?
    }

    private let kept: Mutex<Kept>

    /// Keeps the JSON of a call.
    ///
    /// - Parameters:
    ///   - bytes: The JSON.
    ///   - onLetGo: Called once, when it was let go.
    init(_ bytes: [UInt8], onLetGo: @escaping @Sendable () -> Void = {}) {
        kept = Mutex(Kept(bytes: bytes, onLetGo: onLetGo))
    }

    /// The JSON of the call; empty once it was let go.
    var bytes: [UInt8] { kept.withLock(\.bytes) }

    /// Frees the memory.
    func letGo() {
        let onLetGo = kept.withLock { kept in
            defer { kept = Kept(bytes: []) }
            return kept.onLetGo
        }
        onLetGo?()
    }
}

/// The descriptors beside a call, each of which is closed as soon as no one needs it and counts for its user until then.
final class CallDescriptors: SecretAttachments {
    private let kept: Mutex<[Descriptor?]>
    private let share: UserShare?

    init(_ descriptors: [Descriptor], share: UserShare? = nil) {
        kept = Mutex(descriptors)
        self.share = share
    }

    /// The bytes of the memory files that are still there.
    var size: Int {
        all.reduce(0) { sum, file in
            // Other files, whose size may take long to tell, are refused where they are read.
            let size = (try? SecretDescriptor.size(of: file, most: 1 << 40)) ?? 0
            return sum + size
        }
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

    /// Whether a memory file is larger, or not sealed, for whatever reason; other descriptors are refused where they are read.
    private static func isRefused(_ file: Descriptor, most: Int) -> Bool {
        SecretDescriptor.isMemory(file) && (try? SecretDescriptor.size(of: file, most: most)) == nil
    }

    /// Closes all but the first `count`, and of these each that is larger than `size` bytes or could still grow: its size decides
    /// about the turn of its call.
    func close(behind count: Int, largerThan size: Int = .max) {
        let closed = kept.withLock { kept in
            let before = kept.count { $0 != nil }
            kept = kept.prefix(count).map { $0.flatMap { Self.isRefused($0, most: size) ? nil : $0 } }
            return before - kept.count { $0 != nil }
        }
        if closed > 0 { _ = share?.change(bytes: 0, descriptors: -closed) }
    }
}
