// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint
internal import Foundation

/// Keeps two programs of one user from using one reader at once, and can say which one has it.
///
/// The kernel alone is not enough: it refuses a second claim of a USB interface, without a name, and knows nothing
/// of libfprint's virtual readers, whose sockets a second program would simply take over. The lock is an advisory
/// one (`flock(2)`) on a file in the user's runtime directory; the kernel drops it with the process, however that ends.
struct ReaderLock: ~Copyable {
    private let descriptor: CInt

    /// Takes the lock of the reader.
    ///
    /// - Throws: `inUse` with the holder's name as cause; `malfunction` when there is no place for the file.
    init(for id: ReaderID, socket: String?) throws(ReaderError) {
        let path = try ReaderLock.directory() + "/" + ReaderLock.fileName(for: id, socket: socket)
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ReaderLock.failure("cannot open \(path)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = ReaderLock.holder(descriptor)
            Glibc.close(descriptor)
            throw ReaderError(.inUse, operation: "open", cause: holder)
        }
        self.descriptor = descriptor
        ReaderLock.sign(descriptor)
    }

    deinit { Glibc.close(descriptor) }

    /// `$XDG_RUNTIME_DIR/whorl`, else a directory in `/tmp` that belongs to this user alone.
    static func directory() throws(ReaderError) -> String {
        let base = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"].flatMap {
            $0.hasPrefix("/") ? $0 : nil
        }
        let path = base.map { $0 + "/whorl" } ?? "/tmp/whorl-\(getuid())"
        mkdir(path, 0o700)
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
            status.st_mode & 0o022 == 0
        else { throw failure("\(path) is not a directory of this user alone") }
        return path
    }

    /// Virtual readers of different sockets are different readers, although libfprint names them alike.
    private static func fileName(for id: ReaderID, socket: String?) -> String {
        (id.rawValue + (socket ?? "")).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
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

    private static func failure(_ what: String) -> ReaderError {
        ReaderError(.malfunction, operation: "open", cause: "\(what): \(String(cString: strerror(errno)))")
    }
}
