// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
package import WhorlSecretMemory

/// Passes secrets between two processes, as memory files of sealed size whose descriptors are sent along with the JSON.
///
/// A message itself never contains a secret. The receiver wipes the file after reading it, unless the sender sealed it
/// against writing; the kernel frees the pages when both sides have closed the file. Until then, the pages may be
/// written to swap, because `mlock(2)` does not cover them.
package enum SecretDescriptor {
    /// The maximum size of a file, in bytes.
    ///
    /// This is enough for an item's value of 1 MiB and the overhead of sealing. It is also enough for a value that is
    /// too large for an item, so that the vault can report that error.
    package static let largest = 2 << 20

    /// An error that occurred while creating or reading a secret's descriptor.
    package enum Fault: Error, Sendable, Hashable {
        /// The descriptor is not a memory file, or its size is not sealed.
        case notSealed
        /// The file is larger than ``SecretDescriptor/largest``.
        case tooLarge
        /// Some of the file's bytes have no memory, because it was already read or never written.
        case wiped
        /// The system failed to create or read the file.
        case system(SystemCallError)
    }

    /// Creates a memory file with a secret.
    package static func make(_ secret: borrowing SecretBytes) throws(Fault) -> Descriptor {
        try secret.withUnsafeBytes { bytes throws(Fault) in try make(bytes) }
    }

    /// Creates a memory file with bytes from ordinary memory.
    package static func make(_ bytes: [UInt8]) throws(Fault) -> Descriptor {
        let result = bytes.withUnsafeBytes { bytes in Result { () throws(Fault) in try make(bytes) } }
        return try result.get()
    }

    private static func make(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Descriptor {
        let number = whorl_memfd_create("whorl-secret")
        guard number >= 0 else { throw .system(SystemCallError("memfd_create")) }
        let file = Descriptor(owning: number)
        let written = bytes.isEmpty ? 0 : pwrite(number, bytes.baseAddress, bytes.count, 0)
        // A memory file accepts a write completely, or fails for lack of memory.
        guard written == bytes.count else { throw .system(SystemCallError("pwrite")) }
        guard whorl_seal_size(number) == 0 else { throw .system(SystemCallError("fcntl")) }
        return file
    }

    /// Reads a secret from a memory file directly into locked memory, and wipes the file.
    ///
    /// The file is read instead of being mapped, so if the other side changes it at the same time, the only effect is
    /// that the bytes differ.
    package static func read(_ file: Descriptor) throws(Fault) -> SecretBytes {
        try SecretBytes(count: try size(of: file, most: largest)) { room throws(Fault) in
            try fill(room, from: file)
        }
    }

    /// Reads bytes from a memory file into ordinary memory, and wipes the file.
    ///
    /// - Parameters:
    ///   - file: The memory file.
    ///   - most: The maximum size, in bytes.
    /// - Returns: The bytes.
    /// - Throws: A fault if the file cannot be read.
    package static func readOrdinary(_ file: Descriptor, most: Int) throws(Fault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: try size(of: file, most: most))
        let result = bytes.withUnsafeMutableBytes { room in
            Result { () throws(Fault) in try fill(room, from: file) }
        }
        try result.get()
        return bytes
    }

    /// Returns the size of a memory file, which cannot change because it is sealed.
    ///
    /// - Parameters:
    ///   - file: The memory file.
    ///   - most: The maximum size, in bytes.
    /// - Returns: The size in bytes.
    /// - Throws: `notSealed` or `tooLarge` if the file is unsuitable, or the system's error.
    package static func size(of file: Descriptor, most: Int) throws(Fault) -> Int {
        let seals = whorl_seals(file.number)
        guard seals >= 0, seals & 7 == 7 else { throw .notSealed }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system(SystemCallError("fstat")) }
        guard (0...off_t(most)).contains(status.st_size) else { throw .tooLarge }
        return Int(status.st_size)
    }

    /// Returns whether a descriptor refers to a memory file, sealed or not, without making a call that could block.
    static func isMemory(_ file: Descriptor) -> Bool { whorl_seals(file.number) >= 0 }

    private static func fill(_ room: UnsafeMutableRawBufferPointer, from file: Descriptor) throws(Fault) {
        let count = room.isEmpty ? 0 : pread(file.number, room.baseAddress, room.count, 0)
        guard count == room.count else { throw .system(SystemCallError("pread")) }
        // A hole reads as zeros, which are not a secret.
        guard memory(of: file) >= count else { throw .wiped }
        wipe(file, count: count)
    }

    /// Returns the memory used by a file, in bytes.
    static func memory(of file: Descriptor) -> Int {
        var status = stat()
        return fstat(file.number, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    /// Overwrites the file's bytes and frees their memory.
    ///
    /// Holes in the file are not overwritten, because a page written here would be charged to this process as long as
    /// the other side has the file open.
    private static func wipe(_ file: Descriptor, count: Int) {
        let zeros = [UInt8](repeating: 0, count: min(count, 65_536))
        var position = lseek(file.number, 0, Int32(WHORL_SEEK_DATA))
        while (0..<off_t(count)).contains(position) {
            let end = lseek(file.number, position, Int32(WHORL_SEEK_HOLE))
            let size = min(zeros.count, Int(min(end, off_t(count)) - position))
            guard size > 0, pwrite(file.number, zeros, size, position) == size else { break }
            position = lseek(file.number, position + off_t(size), Int32(WHORL_SEEK_DATA))
        }
        // This also frees data that the other side has written since. The kernel frees only whole pages.
        _ = whorl_free(file.number, Int64(count + 65_535) & ~65_535)
    }
}
