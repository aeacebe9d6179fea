// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint
internal import Glibc

/// Where the lock files of readers are: a folder that is this user's alone.
///
/// All programs of a user have to look in the same folder, or they would not see one another's locks. So it does not
/// depend on settings (`XDG_RUNTIME_DIR`, `WHORL_STATE_DIR`), but on what every process of the user finds: the
/// first of these whose parent is there.
///
/// 1. `/run/user/UID/whorl`: made at login, empty after a restart, and no other user can write beside it
/// 2. `~/.local/state/whorl-readers`: where nobody logged in, or there is no logind
/// 3. `/tmp/whorl-UID`: without a home, as services have it; anybody could have made it first
///
/// A folder that is there and cannot be trusted ends the search: another one would hide the locks of those who found
/// this one in order.
struct LockPlace: Sendable {
    /// The folder that has to be there.
    let parent: String
    /// What is made in it, one in the other.
    let folders: [String]

    /// The folder of the lock files.
    var path: String { ([parent] + folders).joined(separator: "/") }

    /// The places of the user, the best first.
    static func all(user: uid_t, home: String?) -> [LockPlace] {
        [LockPlace(parent: "/run/user/\(user)", folders: ["whorl"])]
            + (home.map { [LockPlace(parent: $0, folders: [".local", "state", "whorl-readers"])] } ?? [])
            + [LockPlace(parent: "/tmp", folders: ["whorl-\(user)"])]
    }

    /// The places of this process's user.
    static var ours: [LockPlace] {
        let home = getenv("HOME").map { String(cString: $0) }
        return all(user: getuid(), home: home?.hasPrefix("/") == true ? home : nil)
    }

    /// Opens the first of the places that can be had, and makes it where it is not there.
    ///
    /// - Returns: A descriptor of the folder, which the caller closes, and its path.
    /// - Throws: `lockUnusable` when the folder belongs to another, is a link, no folder or too open, or when there
    ///   is no place at all; the cause says what to do.
    static func open(_ places: [LockPlace]) throws(ReaderError) -> (descriptor: CInt, path: String) {
        for place in places {
            if let descriptor = try place.open() { return (descriptor, place.path) }
        }
        throw refusal(
            "none of \(places.map(\.path).joined(separator: ", ")) can be made; make one of them, mode 700"
        )
    }

    /// `nil` when the place cannot be had by this user at all.
    private func open() throws(ReaderError) -> CInt? {
        var path = parent
        for (index, folder) in folders.enumerated() {
            path += "/" + folder
            // 0700 for those between as well: what is there already is left as it is.
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
            // What is between is the user's own affair, links included.
            guard index == folders.count - 1 else { continue }
            let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let reason = errno
            guard descriptor >= 0 else { throw LockPlace.trouble(with: path, reason) }
            do throws(ReaderError) {
                try LockPlace.requireOurs(descriptor, path)
                return descriptor
            } catch {
                close(descriptor)
                throw error
            }
        }
        return nil
    }

    private static func requireOurs(_ descriptor: CInt, _ path: String) throws(ReaderError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw trouble(with: path, errno) }
        guard status.st_uid == getuid() else {
            throw refusal("\(path) belongs to user \(status.st_uid); have it removed: sudo rm -r \(path)")
        }
        // Whoever can open a file in it, to read only, can lock it.
        guard status.st_mode & 0o077 == 0 else {
            throw refusal("\(path) is open to other users; close it: chmod 700 \(path)")
        }
    }

    private static func trouble(with path: String, _ reason: CInt) -> ReaderError {
        var status = stat()
        guard lstat(path, &status) == 0 else { return refusal("\(path): \(text(reason))") }
        switch status.st_mode & S_IFMT {
        case S_IFLNK: return refusal("\(path) is a link; remove it: \(removal(of: path, status)) \(path)")
        case S_IFDIR:
            return status.st_uid == getuid()
                ? refusal("\(path) cannot be read; open it: chmod 700 \(path)")
                : refusal("\(path) belongs to user \(status.st_uid); have it removed: sudo rm -r \(path)")
        default: return refusal("\(path) is not a folder; remove it: \(removal(of: path, status)) \(path)")
        }
    }

    /// In `/tmp` only the owner, or root, can remove it.
    static func removal(of path: String, _ status: stat) -> String {
        status.st_uid == getuid() ? "rm" : "sudo rm"
    }

    static func refusal(_ cause: String) -> ReaderError {
        ReaderError(.lockUnusable, operation: "open", cause: cause)
    }

    static func text(_ reason: CInt) -> String { String(cString: strerror(reason)) }
}
