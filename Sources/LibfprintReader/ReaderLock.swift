// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint
internal import Foundation

/// Keeps two programs of one user from using one reader at once, and can say which one has it.
///
/// The kernel alone is not enough: it refuses a second claim of a USB interface, without a name, and knows nothing
/// of libfprint's virtual readers, whose sockets a second program would simply take over. The lock is an advisory
/// one (`flock(2)`) on a file; the kernel drops it with the process, however that ends.
///
/// The files stay. Removing one would let two programs in: the one that locked the removed file, and the one that
/// makes a new file of the name. They are a few bytes each, one for each reader.
struct ReaderLock: ~Copyable {
    private let descriptor: CInt

    /// Takes the lock of the reader.
    ///
    /// - Parameters:
    ///   - id: The reader.
    ///   - emulation: The path of a pretended reader's socket, or of the folder of an emulated bus: what tells one
    ///     pretended reader from another of the same id. Its lock is beside it, where everybody who can use the
    ///     reader finds it; ``LockPlace`` holds the locks of the others.
    ///   - places: Where the locks of real readers may be.
    /// - Throws: `inUse` with the holder's name as cause; `lockUnusable` when the file or its place cannot be trusted.
    init(
        for id: ReaderID,
        emulation: String?,
        places: [LockPlace] = LockPlace.ours
    ) throws(ReaderError) {
        let name = ReaderLock.fileName(for: id)
        if let emulation {
            try self.init(descriptor: AT_FDCWD, name: "\(emulation).\(name)", path: "\(emulation).\(name)")
        } else {
            let place = try LockPlace.open(places)
            defer { Glibc.close(place.descriptor) }
            try self.init(descriptor: place.descriptor, name: name, path: "\(place.path)/\(name)")
        }
    }

    private init(descriptor folder: CInt, name: String, path: String) throws(ReaderError) {
        // Without waiting for whoever reads a pipe of that name.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(folder, name, flags, 0o600)
        guard descriptor >= 0 else { throw ReaderLock.trouble(with: path, errno) }
        do throws(ReaderError) {
            try ReaderLock.requireOurs(descriptor, path)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let cause = ReaderLock.holder(descriptor)
                throw ReaderError(.inUse, operation: "open", cause: cause)
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        ReaderLock.sign(descriptor)
    }

    deinit { Glibc.close(descriptor) }

    /// Why no real reader can be locked; `nil` when one can.
    static func trouble(in places: [LockPlace] = LockPlace.ours) -> ReaderError? {
        do throws(ReaderError) {
            Glibc.close(try LockPlace.open(places).descriptor)
            return nil
        } catch {
            return error
        }
    }

    private static func requireOurs(_ descriptor: CInt, _ path: String) throws(ReaderError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw LockPlace.refusal("\(path) is not a file; remove it: rm -r \(path)")
        }
        guard status.st_uid == getuid() else {
            throw LockPlace.refusal(
                "\(path) belongs to user \(status.st_uid); have it removed: sudo rm \(path)"
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw LockPlace.refusal(
                "\(path) is open to other users, who could lock it; close it: chmod 600 \(path)"
            )
        }
    }

    private static func trouble(with path: String, _ reason: CInt) -> ReaderError {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            return LockPlace.refusal("\(path) cannot be made: \(LockPlace.text(reason))")
        }
        let removal = LockPlace.removal(of: path, status)
        return switch status.st_mode & S_IFMT {
        case S_IFLNK: LockPlace.refusal("\(path) is a link; remove it: \(removal) \(path)")
        case S_IFDIR: LockPlace.refusal("\(path) is a folder; remove it: \(removal) -r \(path)")
        case S_IFREG: LockPlace.refusal("\(path): \(LockPlace.text(reason)); remove it: \(removal) \(path)")
        default: LockPlace.refusal("\(path) is not a file; remove it: \(removal) \(path)")
        }
    }

    /// A name that a reader's id, which the device may have a word in, cannot lead elsewhere.
    private static func fileName(for id: ReaderID) -> String {
        id.rawValue.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
            .suffix(200).reduce(into: "reader-") { $0.append($1) } + ".lock"
    }

    /// Writes who holds the lock, for those who come second.
    private static func sign(_ descriptor: CInt) {
        let name = (try? String(contentsOfFile: "/proc/self/comm", encoding: .utf8)) ?? "a program"
        let text = "\(name.trimmingCharacters(in: .whitespacesAndNewlines)) (process \(getpid()))"
        ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    private static func holder(_ descriptor: CInt) -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return "" }
        return "held by " + String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
