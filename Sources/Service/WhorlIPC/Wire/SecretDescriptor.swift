// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
package import WhorlSecretMemory

/// Secrets between two processes: bytes in a memory file whose size is sealed, sent as a descriptor beside the JSON.
///
/// A secret never stands in a message. The reader wipes the file after it has read, unless the other side sealed it
/// against writing; the kernel frees the pages when both sides have closed them. Until then they may be written to swap:
/// `mlock(2)` does not reach them.
package enum SecretDescriptor {
    /// The largest file in bytes: room for an item's value of 1 MiB, for what sealing adds, and for one that is larger than
    /// an item takes, so that the vault says so.
    package static let largest = 2 << 20

    /// An error of making or reading a secret's descriptor.
    package enum Fault: Error, Sendable, Hashable {
        /// It is no memory file, or its size is not sealed.
        case notSealed
        /// It is larger than ``SecretDescriptor/largest``.
        case tooLarge
        /// Some of its bytes have no memory: it was read before, or never written.
        case wiped
        /// The system refused to make or to read it.
        case system(SystemCallError)
    }

    /// Puts a secret into a memory file.
    package static func make(_ secret: borrowing SecretBytes) throws(Fault) -> Descriptor {
        try secret.withUnsafeBytes { bytes throws(Fault) in try make(bytes) }
    }

    /// Puts bytes that lie in ordinary memory into a memory file.
    package static func make(_ bytes: [UInt8]) throws(Fault) -> Descriptor {
        let result = bytes.withUnsafeBytes { bytes in Result { () throws(Fault) in try make(bytes) } }
        return try result.get()
    }

    private static func make(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Descriptor {
        let number = whorl_memfd_create("whorl-secret")
        guard number >= 0 else { throw .system(SystemCallError("memfd_create")) }
        let file = Descriptor(owning: number)
        let written = bytes.isEmpty ? 0 : pwrite(number, bytes.baseAddress, bytes.count, 0)
        // A memory file takes a write whole, or fails for want of memory.
        guard written == bytes.count else { throw .system(SystemCallError("pwrite")) }
        guard whorl_seal_size(number) == 0 else { throw .system(SystemCallError("fcntl")) }
        return file
    }

    /// Reads a secret from a memory file, straight into locked memory, and wipes the file.
    ///
    /// It is read, never mapped: if the other side changes the file at the same time, the bytes differ, and no more.
    package static func read(_ file: Descriptor) throws(Fault) -> SecretBytes {
        try SecretBytes(count: try size(of: file, most: largest)) { room throws(Fault) in
            try fill(room, from: file)
        }
    }

    /// Reads bytes that may lie in ordinary memory from a memory file, and wipes the file.
    ///
    /// - Parameters:
    ///   - file: The memory file.
    ///   - most: The largest size that is read, in bytes.
    /// - Returns: The bytes.
    /// - Throws: The reason for which it is not read.
    package static func readOrdinary(_ file: Descriptor, most: Int) throws(Fault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: try size(of: file, most: most))
        let result = bytes.withUnsafeMutableBytes { room in
            Result { () throws(Fault) in try fill(room, from: file) }
        }
        try result.get()
        return bytes
    }

    /// Returns the size of a memory file, which is sealed and so stays as it is.
    ///
    /// - Parameters:
    ///   - file: The memory file.
    ///   - most: The largest size that is taken, in bytes.
    /// - Returns: The size in bytes.
    /// - Throws: `notSealed`, `tooLarge`, or the system's refusal to tell.
    package static func size(of file: Descriptor, most: Int) throws(Fault) -> Int {
        let seals = whorl_seals(file.number)
        guard seals >= 0, seals & 7 == 7 else { throw .notSealed }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system(SystemCallError("fstat")) }
        guard (0...off_t(most)).contains(status.st_size) else { throw .tooLarge }
        return Int(status.st_size)
    }

    /// Whether a descriptor is of a memory file, sealed or not; nothing that may wait is asked.
    static func isMemory(_ file: Descriptor) -> Bool { whorl_seals(file.number) >= 0 }

    private static func fill(_ room: UnsafeMutableRawBufferPointer, from file: Descriptor) throws(Fault) {
        let count = room.isEmpty ? 0 : pread(file.number, room.baseAddress, room.count, 0)
        guard count == room.count else { throw .system(SystemCallError("pread")) }
        // A hole reads as zeros, which are no secret.
        guard memory(of: file) >= count else { throw .wiped }
        wipe(file, count: count)
    }

    /// Returns the memory that a file takes, in bytes.
    static func memory(of file: Descriptor) -> Int {
        var status = stat()
        return fstat(file.number, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    /// Overwrites the bytes, and frees their memory.
    ///
    /// Holes are left alone: a page that is written here would count as this process's, as long as the other side keeps
    /// the file.
    private static func wipe(_ file: Descriptor, count: Int) {
        let zeros = [UInt8](repeating: 0, count: min(count, 65_536))
        var position = lseek(file.number, 0, Int32(WHORL_SEEK_DATA))
        while (0..<off_t(count)).contains(position) {
            let end = lseek(file.number, position, Int32(WHORL_SEEK_HOLE))
            let size = min(zeros.count, Int(min(end, off_t(count)) - position))
            guard size > 0, pwrite(file.number, zeros, size, position) == size else { break }
            position = lseek(file.number, position + off_t(size), Int32(WHORL_SEEK_DATA))
        }
        // This also frees what the other side has written since. The kernel frees whole pages only.
        _ = whorl_free(file.number, Int64(count + 65_535) & ~65_535)
    }
}
