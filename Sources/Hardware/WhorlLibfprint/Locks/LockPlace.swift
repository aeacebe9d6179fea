// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint
internal import Glibc
internal import WhorlSupport

/// A folder that only this user can use, for the lock files of readers.
///
/// All of a user's programs must use the same folder, or they would not see each other's locks. The choice therefore
/// ignores settings (`XDG_RUNTIME_DIR`, `WHORL_STATE_DIR`) and is the same for each of the user's processes. It is the
/// first of these folders whose parent exists:
///
/// 1. `/run/user/UID/whorl`, which is empty after a restart and is in a folder that is created at login and that no
///    other user can write to
/// 2. `~/.local/state/whorl-readers`, which is used if the user has not logged in or there is no logind
/// 3. `/tmp/whorl-UID`, which is used if there is no home folder, as for services, and which any user could have
///    created first
///
/// If a folder exists but cannot be trusted, the search ends, because in another folder the locks of programs that
/// trusted this one would not be seen.
struct LockPlace: Sendable {
    /// The folder that must exist.
    let parent: String
    /// The names of the folders to create in the parent, each inside the previous one.
    let folders: [String]

    /// The path of the folder for the lock files.
    var path: String { ([parent] + folders).joined(separator: "/") }

    /// Returns the user's possible locations, best first.
    static func all(user: uid_t, home: String?) -> [LockPlace] {
        [LockPlace(parent: "/run/user/\(user)", folders: ["whorl"])]
            + (home.map { [LockPlace(parent: $0, folders: [".local", "state", "whorl-readers"])] } ?? [])
            + [LockPlace(parent: "/tmp", folders: ["whorl-\(user)"])]
    }

    /// The locations for this process's effective user.
    ///
    /// A program that has more privileges than its caller ignores the caller's `HOME` and uses the user database
    /// instead.
    static var ours: [LockPlace] { ours(isElevated: ThisProcess.isElevated) }

    static func ours(isElevated: Bool) -> [LockPlace] {
        let home = isElevated ? ThisProcess.homeFolder : getenv("HOME").map { String(cString: $0) }
        return all(user: geteuid(), home: home?.hasPrefix("/") == true ? home : nil)
    }

    /// Opens the first usable location, creating it if it does not exist.
    ///
    /// - Parameters:
    ///   - places: The locations.
    ///   - followsLinks: Whether a folder above the last one may be a symbolic link. Pass `false` in a privileged
    ///     program.
    /// - Returns: A descriptor of the folder, which the caller must close, and the folder's path.
    /// - Throws: `lockUnusable` if no location is usable, or if the folder belongs to another user, is a symbolic link,
    ///   is not a folder, or has too permissive a mode. The cause contains the remedy.
    static func open(
        _ places: [LockPlace],
        followsLinks: Bool = !ThisProcess.isElevated
    ) throws(ReaderError) -> (descriptor: CInt, path: String) {
        for place in places {
            if let descriptor = try place.open(followsLinks) { return (descriptor, place.path) }
        }
        throw refusal(
            "none of \(places.map(\.path).joined(separator: ", ")) can be created; create one of them with mode 700"
        )
    }

    /// Returns a descriptor of the folder, or `nil` if this user cannot use the location at all.
    private func open(_ followsLinks: Bool) throws(ReaderError) -> CInt? {
        var path = parent
        for (index, folder) in folders.enumerated() {
            path += "/" + folder
            // Folders in between are created with mode 0700 as well; existing ones are left unchanged.
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
            guard index == folders.count - 1 else {
                if !followsLinks, FileFault(linkAt: path) == .link {
                    throw LockPlace.refusal(.unusable(.link), path, expecting: S_IFDIR)
                }
                continue
            }
            let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let reason = errno
            guard descriptor >= 0 else {
                let fault = FileFault(linkAt: path).map { FileLockError.unusable($0) }
                throw LockPlace.refusal(fault ?? .system(reason), path, expecting: S_IFDIR)
            }
            var found = stat()
            let fault = fstat(descriptor, &found) == 0 ? FileFault(found, expecting: S_IFDIR) : .link
            guard let fault else { return descriptor }
            close(descriptor)
            throw LockPlace.refusal(.unusable(fault), path, expecting: S_IFDIR)
        }
        return nil
    }

    /// Returns an error with the reason why a lock file or its folder cannot be used, and how to fix it.
    static func refusal(
        _ error: FileLockError,
        _ path: String,
        expecting kind: mode_t = S_IFREG
    ) -> ReaderError {
        let isFolder = kind == S_IFDIR
        // In `/tmp`, only the owner or root can remove a file.
        var found = stat()
        let isOurs = lstat(path, &found) != 0 || found.st_uid == geteuid()
        let removal = (isOurs ? "rm" : "sudo rm") + (found.st_mode & S_IFMT == S_IFDIR ? " -r" : "")
        switch error {
        case .held, .cancelled: return refusal("\(path) is locked")
        case .system(let code): return refusal("\(path): \(String(cString: strerror(code)))")
        case .unusable(.link): return refusal("\(path) is a link; remove it: \(removal) \(path)")
        case .unusable(.kind(let present)):
            let words = isFolder ? "is not a folder" : present == S_IFDIR ? "is a folder" : "is not a file"
            return refusal("\(path) \(words); remove it: \(removal) \(path)")
        case .unusable(.owner(let user)):
            let command = isFolder ? "sudo rm -r" : "sudo rm"
            return refusal("\(path) belongs to user \(user); have it removed: \(command) \(path)")
        case .unusable(.mode):
            // `flock(2)` does not require write access: any program that can open the file can lock it.
            return refusal(
                "\(path) is open to other users, who could lock it; close it: chmod \(isFolder ? 700 : 600) \(path)"
            )
        }
    }

    static func refusal(_ cause: String) -> ReaderError {
        ReaderError(.lockUnusable, operation: "open", cause: cause)
    }
}

extension FileFault {
    /// Examines a folder without following a link, and returns `nil` if the folder is private or cannot be examined.
    fileprivate init?(linkAt path: String) {
        var found = stat()
        guard lstat(path, &found) == 0 else { return nil }
        self.init(found, expecting: S_IFDIR)
    }
}
