// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// The user for whom root opens or makes a file: the file's owner, or the owner of its folder.
///
/// An operator runs commands as root, and the server runs as a user of its own. A file that root made in that user's folder
/// would be closed to the server; and whatever root opens there could be a link that this user has planted.
public enum FileOwner {
    /// Runs `body` with the rights of the file's owner if root calls it, and with the caller's otherwise.
    ///
    /// The rights apply to the whole process until then: it is for commands, which do one thing at a time.
    ///
    /// - Throws: ``ServerError`` if the rights cannot be changed, and what `body` throws.
    public static func acting<Value>(for path: String, _ body: () throws -> Value) throws -> Value {
        guard geteuid() == 0, let owner = owner(of: path), owner.st_uid != 0 else { return try body() }
        let group = getegid()
        let groups = try supplementaryGroups()
        // What was changed is changed back in any case; a process that cannot get its rights back must not go on with others.
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

    /// Returns the name of a file's owner if that is somebody else; `nil` for the caller's own, and for no file.
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
