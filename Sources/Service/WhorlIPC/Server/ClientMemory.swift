// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The memory that counts as this service's and that only its clients can free.
///
/// The kernel counts a page as memory of the process that wrote it, for as long as any process holds it: a secret's file that
/// a client keeps, what waits in a socket that the client does not read, a page that the client has moved into a pipe (splice(2)).
/// It does not tell who holds a page, and the end of the connection frees none. But it tells the sum for the service's control
/// group. While the sum is large, a user who was sent more than an allowance gets nothing more, and all others are served. The
/// allowance shrinks as the sum grows. Above one and a half times ``most`` the service ends (``onExcess(_:)``), since its next
/// process is not charged for any of it.
package final class ClientMemory: Sendable {
    private struct State {
        /// The bytes that were sent since the last look.
        var unseen = 0
        /// The sum of the last look.
        var sum = 0
        /// Called once, when the sum is too large.
        var excess: (@Sendable () -> Void)?
        /// Counts the looks that found little.
        var calms: UInt64 = 0
        var looked = ContinuousClock.now
    }

    /// The largest sum in bytes with which every user is served.
    let most: Int
    /// The most bytes that a user was sent since the sum was less than half of ``most``, and is served all the same, where the
    /// sum is just larger than ``most``; 16 KiB of them are forgotten each second.
    private let mostOfUser: Int
    private let read: @Sendable () -> Int?
    /// The sum at the beginning: what the kernel needs for the process itself.
    private let first: Int
    private let state = Mutex(State())

    /// Watches a sum.
    ///
    /// - Parameters:
    ///   - most: The largest sum in bytes with which every user is served.
    ///   - mostOfUser: The most bytes of a user who is served with a larger one.
    ///   - read: Returns the sum in bytes; `nil` where it cannot be told, which counts as none.
    package init(
        most: Int = 64 << 20,
        mostOfUser: Int = 12 << 20,
        reading read: @escaping @Sendable () -> Int?
    ) {
        self.most = most
        self.mostOfUser = mostOfUser
        self.read = read
        first = read() ?? 0
    }

    /// Whether clients hold so little that the service may end: its next process does not count what they hold.
    package var isLittle: Bool { (read() ?? 0) - first < most / 8 }

    /// Calls `body` once, as soon as the sum is more than one and a half times ``most``.
    package func onExcess(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.excess = body
            look(&state)
        }
    }

    /// The number of looks that found little; a user's bytes from before the last one count no longer.
    var calms: UInt64 { state.withLock(\.calms) }

    /// Counts what was sent to any user.
    func count(_ bytes: Int) {
        state.withLock { state in
            state.unseen += bytes
            if state.unseen >= 1 << 20 { look(&state) }
        }
    }

    /// The bytes that a user may have been sent to be served, as of a moment ago; `nil` while the sum is small.
    var allowance: Int? {
        state.withLock { state in
            if state.sum > most, ContinuousClock.now - state.looked > .milliseconds(200) { look(&state) }
            guard state.sum > most else { return nil }
            // A user who was sent very little is always served, so that logins work.
            let left = max(0, excess - state.sum)
            return max(
                min(mostOfUser, 1 << 18),
                Int(Double(mostOfUser) * Double(left) / Double(max(1, excess - most)))
            )
        }
    }

    private var excess: Int { most + most / 2 }

    private func look(_ state: inout State) {
        state.sum = read() ?? 0
        state.unseen = 0
        state.looked = .now
        if state.sum < most / 2 { state.calms += 1 }
        if state.sum > excess, let body = state.excess {
            state.excess = nil
            body()
        }
    }
}

extension ClientMemory {
    /// The memory of this process's control group (cgroups version 2) that is neither the process's own nor cached files.
    ///
    /// It needs a group of the process alone, as systemd gives a service. Without one, or without its memory controller, nothing
    /// is watched.
    package static func ofThisService() -> ClientMemory? {
        guard
            let own = text(of: "/proc/self/cgroup")?.split(separator: "\n").first(where: {
                $0.hasPrefix("0::/")
            })
        else { return nil }
        let folder = "/sys/fs/cgroup" + own.dropFirst(3)
        guard held(in: folder) != nil else { return nil }
        return ClientMemory { held(in: folder) }
    }

    /// Returns the bytes in a control group that the process does not hold itself (memory.stat in the kernel's cgroup-v2.rst).
    static func held(in folder: String) -> Int? {
        guard let current = text(of: folder + "/memory.current").flatMap({ Int($0.dropLast()) }),
            let stat = text(of: folder + "/memory.stat")
        else { return nil }
        return held(of: current, stat)
    }

    /// The kernel frees cached files and reclaimable slabs when memory is short, so they are left out.
    static func held(of current: Int, _ stat: String) -> Int? {
        var values: [Substring: Int] = [:]
        for line in stat.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { values[words[0]] = Int(words[1]) }
        }
        guard let anonymous = values["anon"], let files = values["file"], let shared = values["shmem"] else {
            return nil
        }
        let reclaimable = max(0, files - shared) + (values["slab_reclaimable"] ?? 0)
        return max(0, current - anonymous - reclaimable)
    }

    /// Returns a file of the kernel of up to 16 KiB.
    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var room = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(file, &room, room.count)
        return count > 0 ? String(decoding: room[..<count], as: UTF8.self) : nil
    }
}
