// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// The memory files that went to one user's programs beside answers, for as long as a program holds them.
///
/// The kernel counts such a file as memory of the process that made it, wherever it is. So the service keeps a descriptor
/// of its own of each, and asks the kernel whether anyone else still has one: `fcntl(F_SETLEASE)` grants a lease for
/// reading where no descriptor has the file open for writing (fcntl(2), "Leases"). A memory file itself does not count as opened;
/// what goes to the client is opened once more through `/proc/self/fd`, and does. Its mode lets no other user open it again.
struct LentFiles {
    /// An amount of memory and descriptors.
    struct Size: Equatable {
        var bytes = 0
        var descriptors = 0
    }

    private struct File {
        let descriptor: Descriptor
        let bytes: Int
        let lent: ContinuousClock.Instant
    }

    /// The time after which a file counts as let go where the kernel does not say whether it is.
    private static let longest = Duration.seconds(30)

    private var files: [File] = []
    private(set) var size = Size()
    /// The number of files at which it is worth looking for those that were let go.
    private var next = LentFiles.fewest
    private static let fewest = 16

    /// Keeps a memory file, and returns the descriptor for the client.
    ///
    /// - Parameter file: A memory file of this process alone.
    /// - Returns: A further descriptor of it.
    /// - Throws: the system's refusal.
    mutating func lend(_ file: Descriptor) throws(SystemCallError) -> Descriptor {
        guard fchmod(file.number, 0o600) == 0 else { throw SystemCallError("fchmod") }
        let opened = open("/proc/self/fd/\(file.number)", O_RDWR | O_CLOEXEC)
        guard opened >= 0 else { throw SystemCallError("open") }
        let lent = Descriptor(owning: opened)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw SystemCallError("fstat") }
        let bytes = Int(status.st_blocks) * 512
        files.append(File(descriptor: file, bytes: bytes, lent: .now))
        size.bytes += bytes
        size.descriptors += 1
        return lent
    }

    /// Whether as many were lent since the last look that another one is worth its time.
    var isWorthALook: Bool { files.count >= next }

    /// Wipes and closes the files of which no other process has a descriptor.
    mutating func takeBack() {
        let now = ContinuousClock.now
        end { file in
            let isOpen = whorl_is_open_for_writing(file.descriptor.number)
            return isOpen == 0 || (isOpen < 0 && now - file.lent > Self.longest)
        }
        next = max(Self.fewest, 2 * files.count)
    }

    /// Wipes and closes the files that a client has had for longer than a time, also where it has not read them.
    ///
    /// A client that reads one afterwards gets an error (``SecretDescriptor/Fault/wiped``).
    mutating func wipe(olderThan age: Duration) {
        let now = ContinuousClock.now
        end { now - $0.lent > age }
    }

    private mutating func end(where isEnded: (File) -> Bool) {
        let end = files.partition(by: isEnded)
        for file in files[end...] {
            SecretDescriptor.wipe(file.descriptor)
            size.bytes -= file.bytes
            size.descriptors -= 1
        }
        files.removeSubrange(end...)
    }
}
