// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// The user as which root opens or creates a file: the file's owner, or the owner of its folder.
///
/// An operator runs commands as root, while the server runs as a separate user. If root created a file in that user's
/// folder, the server could not access it. And anything that root opens there could be a link planted by that user.
public enum FileOwner {
    /// Runs `body` with the privileges of the file's owner if called by root, and otherwise with the caller's.
    ///
    /// They apply to the whole process until then. It is intended for commands, which do one thing at a time.
    ///
    /// - Throws: ``ServerError`` if the privileges cannot be changed, and the errors of `body`.
    public static func acting<Value>(for path: String, _ body: () throws -> Value) throws -> Value {
        guard geteuid() == 0, let owner = owner(of: path), owner.st_uid != 0 else { return try body() }
        let group = getegid()
        let groups = try supplementaryGroups()
        // All changes are reverted; a process that cannot restore its privileges must not continue with others.
        defer {
            guard seteuid(0) == 0, setegid(group) == 0, unsafe setgroups(groups.count, groups) == 0 else {
                fatalError("cannot regain root privileges: \(SecretFile.reason())")
            }
        }
        guard setgroups(0, nil) == 0, setegid(owner.st_gid) == 0, seteuid(owner.st_uid) == 0 else {
            throw ServerError(.options, "cannot act as the owner of \(path): \(SecretFile.reason())")
        }
        return try body()
    }

    /// Returns the name of a file's owner if it is another user; `nil` for the caller's own files, and if the file does
    /// not exist.
    public static func otherOwner(of path: String) -> String? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_uid != geteuid() else { return nil }
        guard let entry = unsafe getpwuid(status.st_uid) else { return "#\(status.st_uid)" }
        return unsafe String(cString: entry.pointee.pw_name)
    }

    private static func owner(of path: String) -> stat? {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return status }
        let folder = (path as NSString).deletingLastPathComponent
        return unsafe stat(folder.isEmpty ? "." : folder, &status) == 0 ? status : nil
    }

    private static func supplementaryGroups() throws -> [gid_t] {
        let count = getgroups(0, nil)
        var groups = [gid_t](repeating: 0, count: Int(max(0, count)))
        guard count >= 0, unsafe getgroups(count, &groups) == count else {
            throw ServerError(.options, "cannot read root's groups: \(SecretFile.reason())")
        }
        return groups
    }
}
