// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Monitors the memory that is charged to this service and that only its clients can free.
///
/// The kernel charges a page to the process that wrote it as long as any process holds the page. Examples are a
/// secret's memory file that a client keeps open, data waiting in a socket that the client does not read, and a page
/// that the client has moved to a pipe (splice(2)). The kernel does not report who holds a page, and closing the
/// connection does not free it. But it reports the sum for the service's control group.
///
/// While the sum is large, users who have been sent more than an allowance are refused, and all others are served. The
/// allowance shrinks as the sum grows. If the sum exceeds one and a half times ``most``, the service exits
/// (``onExcess(_:)``), because its next process is not charged for this memory.
package final class ClientMemory: Sendable {
    private struct State {
        /// The bytes sent since the last check.
        var unseen = 0
        /// The sum that the last check found.
        var sum = 0
        /// Called once when the sum is too large.
        var excess: (@Sendable () -> Void)?
        /// The number of checks that found a small sum.
        var calms: UInt64 = 0
        var looked = ContinuousClock.now
    }

    /// The maximum sum, in bytes, up to which every user is served.
    let most: Int
    /// The maximum number of bytes that a user may have been sent and still be served when the sum has just exceeded
    /// ``most``.
    ///
    /// The bytes count that were sent to the user since the sum was last less than half of ``most``; each second, 16
    /// KiB of them stop counting.
    private let mostOfUser: Int
    private let read: @Sendable () -> Int?
    /// The initial sum, which the kernel needs for the process itself.
    private let first: Int
    private let state = Mutex(State())

    /// Creates a monitor for a sum.
    ///
    /// - Parameters:
    ///   - most: The maximum sum, in bytes, up to which every user is served.
    ///   - mostOfUser: The maximum number of bytes that a user may have been sent and still be served above that sum.
    ///   - read: Returns the sum in bytes; `nil`, which counts as 0, if it is unknown.
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

    /// Whether clients hold so little that the service may exit.
    ///
    /// Its next process is not charged for the memory that they hold.
    package var isLittle: Bool { (read() ?? 0) - first < most / 8 }

    /// Calls `body` once, as soon as the sum exceeds one and a half times ``most``.
    package func onExcess(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.excess = body
            look(&state)
        }
    }

    /// The number of checks that found a small sum; bytes sent to a user before the last such check no longer count.
    var calms: UInt64 { state.withLock(\.calms) }

    /// Counts bytes sent to any user.
    func count(_ bytes: Int) {
        state.withLock { state in
            state.unseen += bytes
            if state.unseen >= 1 << 20 { look(&state) }
        }
    }

    /// The number of bytes that a user may have been sent and still be served, according to the last check; `nil` while
    /// the sum is small.
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
    /// Returns a monitor for the memory of this process's control group (cgroups version 2), excluding the process's
    /// own memory and cached files.
    ///
    /// The process must be the only one in its group, as systemd arranges for a service. Returns `nil` if there is no
    /// such group, or the group has no memory controller.
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

    /// Returns the number of bytes in a control group that the process does not hold itself (memory.stat in the
    /// kernel's cgroup-v2.rst).
    static func held(in folder: String) -> Int? {
        guard let current = text(of: folder + "/memory.current").flatMap({ Int($0.dropLast()) }),
            let stat = text(of: folder + "/memory.stat")
        else { return nil }
        return held(of: current, stat)
    }

    /// Returns the number of bytes, computed from a group's total and its statistics.
    ///
    /// Cached files and reclaimable slabs are excluded, because the kernel frees them when it runs short of memory.
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

    /// Returns the first 16 KiB of a kernel file.
    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var room = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(file, &room, room.count)
        return count > 0 ? String(decoding: room[..<count], as: UTF8.self) : nil
    }
}
