// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSecretMemory
internal import WhorlSupport

/// The memory and descriptors that all connections of one user hold, and that count toward a common limit.
///
/// A message counts from its first byte until it has been answered, and an answer counts until the client has read it.
/// A client can hold memory longer than that; because the kernel does not attribute it to a user, ``ClientMemory``
/// monitors it.
final class UserShare: Sendable {
    private struct Held {
        var bytes = 0
        var descriptors = 0
        /// The descriptors waiting to be closed, beginning with the one that is being closed.
        var closing: [Int32] = []
        /// The bytes sent since the memory that clients hold was last small.
        var sent = Sent()
    }

    /// The bytes sent to a user since the last check that found a small sum.
    ///
    /// They count less over time.
    private struct Sent {
        /// The number of bytes that stop counting each second.
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

    /// Creates a share of a number of bytes and descriptors.
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

    /// Whether data may be sent to the user's programs; `false` if clients hold much of the data sent to them and these
    /// programs may be among those clients.
    var mayReceive: Bool {
        guard let memory, let allowance = memory.allowance else { return true }
        let calms = memory.calms
        return held.withLock { $0.sent.calms != calms || $0.sent.now < allowance }
    }

    /// Counts an answer and the memory files that were sent with it.
    func countSent(_ bytes: Int, _ files: [Descriptor]) {
        guard let memory else { return }
        // The kernel needs a few kilobytes for each message and each file.
        let size = files.reduce(bytes + 4096) { $0 + 4096 + SecretDescriptor.memory(of: $1) }
        memory.count(size)
        let calms = memory.calms
        held.withLock { $0.sent.add(size, calms) }
    }

    /// The number of bytes that the connections currently hold.
    var bytesHeld: Int { held.withLock(\.bytes) }

    /// The number of descriptors that the connections currently hold, including those waiting to be closed.
    var descriptorsHeld: Int { held.withLock { $0.descriptors + $0.closing.count } }

    /// Whether a descriptor is waiting to be closed.
    var isClosing: Bool { held.withLock { !$0.closing.isEmpty } }

    /// Whether the connections hold nothing and no sent data counts any longer.
    var isEmpty: Bool {
        held.withLock { $0.bytes == 0 && $0.descriptors == 0 && $0.closing.isEmpty && $0.sent.now == 0 }
    }

    /// Whether a message with descriptors may be received; `false` while too many descriptors are waiting to be closed.
    var hasRoomForDescriptors: Bool { descriptorsHeld < mostDescriptors }

    /// Closes a descriptor that a client created, on a thread that is used only for this user.
    ///
    /// close(2) can wait for a lingering socket, or for the process that implements a user's file system (FUSE). On a
    /// separate thread, this delays only other data from the same user.
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

    /// Counts bytes and descriptors that were added or removed.
    ///
    /// - Returns: `false` if more were added than are allowed; they count anyway until they are removed.
    func change(bytes: Int, descriptors: Int) -> Bool {
        held.withLock { held in
            held.bytes += bytes
            held.descriptors += descriptors
            return (bytes <= 0 || held.bytes <= mostBytes)
                && (descriptors <= 0 || held.descriptors + held.closing.count <= mostDescriptors)
        }
    }

    /// Counts messages that were added or removed.
    func change(by messages: [Frame], _ sign: Int) -> Bool {
        change(
            bytes: sign * messages.reduce(0) { $0 + $1.bytes.count },
            descriptors: sign * messages.reduce(0) { $0 + $1.descriptors.count }
        )
    }
}

extension ServiceRefusal {
    /// Returns the refusal for anything that exceeds a user's share of the service.
    ///
    /// - Parameter what: The share, such as `connections`.
    /// - Returns: The refusal, which names the share.
    static func quota(_ what: String) -> ServiceRefusal {
        ServiceRefusal(
            "io.whorl.Connection.QuotaReached",
            quota: what,
            message: "This user's programs have reached the service's limit of \(what).",
            recovery: "Quit the program that holds them; `journalctl -u whorld` lists callers."
        )
    }

    /// The refusal for a user whose programs may be among those that hold too much of the data sent to them.
    static let keptMemory = ServiceRefusal(
        "io.whorl.Connection.QuotaReached",
        quota: "memory",
        message:
            "This user's programs keep too many memory files that the service has sent them.",
        recovery: "Quit the program that holds them; `journalctl -u whorld` lists callers."
    )

    /// The refusal for a message that exceeds the maximum size.
    static let largeMessage = ServiceRefusal(
        "io.whorl.Connection.MessageRefused",
        message: "The message is larger than 1 MiB.",
        recovery: "Send large values as file descriptors."
    )

    /// The refusal for a message that was not completed in time.
    static let unfinishedMessage = ServiceRefusal(
        "io.whorl.Connection.MessageRefused",
        message: "The message was not completed in time.",
        recovery: "Connect again, and send the whole message."
    )

    /// The refusal for a connection if the limit for all users has been reached.
    static let crowded = ServiceRefusal(
        "io.whorl.Connection.QuotaReached",
        quota: "all connections",
        message: "The service's connection limit for all users has been reached.",
        recovery: "Try again in a moment."
    )
}

/// The content of a call, which the call's handler frees as soon as it has read it.
final class CallContents: Sendable {
    private struct Kept {
        var bytes: [UInt8]
        var onLetGo: (@Sendable () -> Void)?
    }

    private let kept: Mutex<Kept>

    /// Stores the JSON of a call.
    ///
    /// - Parameters:
    ///   - bytes: The JSON.
    ///   - onLetGo: Called once, when the JSON has been freed.
    init(_ bytes: [UInt8], onLetGo: @escaping @Sendable () -> Void = {}) {
        kept = Mutex(Kept(bytes: bytes, onLetGo: onLetGo))
    }

    /// The JSON of the call; empty after it has been freed.
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

/// The descriptors sent with a call.
///
/// Each is closed as soon as it is no longer needed, and counts toward its user's share until then.
final class CallDescriptors: SecretAttachments {
    private let kept: Mutex<[Descriptor?]>
    private let share: UserShare?

    init(_ descriptors: [Descriptor], share: UserShare? = nil) {
        kept = Mutex(descriptors)
        self.share = share
    }

    /// The total size of the remaining memory files, in bytes.
    var size: Int {
        all.reduce(0) { sum, file in
            // Other files, whose size may take long to read, are refused where they are read.
            let size = (try? SecretDescriptor.size(of: file, most: 1 << 40)) ?? 0
            return sum + size
        }
    }

    /// The remaining descriptors, in order.
    var all: [Descriptor] { kept.withLock { $0.compactMap(\.self) } }

    /// Removes and returns a descriptor; `nil` if it was already removed or closed.
    func take(_ place: Int) -> Descriptor? {
        let taken: Descriptor? = kept.withLock { kept in
            guard kept.indices.contains(place) else { return nil }
            defer { kept[place] = nil }
            return kept[place]
        }
        if taken != nil { _ = share?.change(bytes: 0, descriptors: -1) }
        return taken
    }

    /// Returns the secret at a position, and closes its descriptor after reading it.
    ///
    /// - Throws: `InvalidParameter` if the position is unknown, the secret has already been read, or the descriptor is
    ///   not a sealed memory file.
    func secret(at place: Int) throws -> SecretBytes {
        // The caller's file is invalid, for whatever reason.
        guard let file = take(place), let secret = try? SecretDescriptor.read(file) else {
            throw ServiceRefusal.invalidParameter("descriptor")
        }
        return secret
    }

    /// Always fails, because secrets cannot be attached to a received message.
    func attach(_ secret: SecretBox) throws -> Int { throw ServiceRefusal.invalidParameter("descriptor") }

    /// Returns whether a memory file is too large or not sealed.
    ///
    /// Other kinds of descriptors are refused when they are read.
    private static func isRefused(_ file: Descriptor, most: Int) -> Bool {
        SecretDescriptor.isMemory(file) && (try? SecretDescriptor.size(of: file, most: most)) == nil
    }

    /// Closes all but the first `count` descriptors, and those among the first that are unsuitable.
    ///
    /// A memory file is unsuitable if it is larger than `size` bytes or could still grow, because its size determines
    /// the turn of its call.
    func close(behind count: Int, largerThan size: Int = .max) {
        let closed = kept.withLock { kept in
            let before = kept.count { $0 != nil }
            kept = kept.prefix(count).map { $0.flatMap { Self.isRefused($0, most: size) ? nil : $0 } }
            return before - kept.count { $0 != nil }
        }
        if closed > 0 { _ = share?.change(bytes: 0, descriptors: -closed) }
    }
}
