// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder with the Flatpak programs that are installed system-wide, as reported by the kernel.
///
/// A user can mount any folder at a sandbox's `/app`, either manually or through Flatpak's portal (`--app-path`). Only
/// a folder inside this one identifies the program in the sandbox, because only root can write to this folder.
package struct FlatpakInstallation: Sendable {
    /// The folder in which Flatpak stores these programs.
    package static let standardFolder = "/var/lib/flatpak/app"

    private let folder: String
    /// The device number of the file system, such as `254:0`.
    private let device: [UInt8]
    /// The path of the folder within its file system.
    private let root: String
    private let isRoots: @Sendable (String) -> Bool

    /// Finds the folder; returns `nil` if it does not exist.
    ///
    /// - Parameters:
    ///   - mounts: The mounts of this process (proc_pid_mountinfo(5)).
    ///   - folder: The folder in which Flatpak stores the programs.
    ///   - isRoots: Returns whether only root can change a folder and its parent folders.
    package init?(
        mounts: some Sequence<UInt8>,
        folder: String = Self.standardFolder,
        isRoots: @escaping @Sendable (String) -> Bool = Self.isRoots
    ) {
        guard let resolved = Self.resolved(folder) else { return nil }
        var found: (point: String, device: [UInt8], root: String)?
        mounts.forEachLine { line in
            guard let mount = Mount(line) else { return true }
            let point = String(decoding: mount.point, as: UTF8.self)
            // The deepest mount provides the folder, and of several at the same place the last one.
            if Self.rest(of: resolved, below: point) != nil, point.utf8.count >= found?.point.utf8.count ?? 0
            {
                found = (point, Array(mount.device), String(decoding: mount.root, as: UTF8.self))
            }
            return true
        }
        guard let found, let rest = Self.rest(of: resolved, below: found.point) else { return nil }
        self.folder = resolved
        device = found.device
        root = (found.root == "/" ? "" : found.root) + (rest == "/" ? "" : rest)
        self.isRoots = isRoots
    }

    /// Returns the ID of the program whose files are stored at a path, which is `ID/ARCHITECTURE/BRANCH/COMMIT/files`
    /// in the folder.
    ///
    /// - Parameters:
    ///   - place: The path within its file system.
    ///   - device: The device number of the file system.
    /// - Returns: The program's ID; `nil` for any other path.
    func program(at place: String, on device: [UInt8]) -> String? {
        guard device == self.device, let rest = Self.rest(of: place, below: root) else {
            return nil
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard parts.count == 5, parts.last == "files", let id = parts.first, Self.isID(id),
            parts.allSatisfy({ !["", ".", ".."].contains($0) }), isRoots(folder + rest)
        else { return nil }
        return String(id)
    }

    /// Returns the part of a path that follows a folder, compared by bytes; `nil` if the path is not inside the folder.
    private static func rest(of path: String, below folder: String) -> String? {
        let folder = folder == "/" ? "" : folder
        guard path.utf8.starts(with: folder.utf8) else { return nil }
        let rest = path.utf8.dropFirst(folder.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return String(Substring(rest))
    }

    private static func isID(_ id: Substring) -> Bool {
        let isPlain = id.utf8.allSatisfy { byte in
            let scalar = UnicodeScalar(byte)
            return scalar.isASCII
                && (scalar.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains(scalar))
        }
        return isPlain && id.contains(".")
    }

    private static func resolved(_ folder: String) -> String? {
        guard let path = realpath(folder, nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// Returns whether only root can change a folder and its parent folders.
    @Sendable package static func isRoots(_ path: String) -> Bool {
        var place = ""
        for part in [""] + path.split(separator: "/").map(String.init) {
            place += part.isEmpty ? "/" : (place == "/" ? part : "/" + part)
            var facts = stat()
            guard lstat(place, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == 0,
                facts.st_mode & (S_IWGRP | S_IWOTH) == 0
            else { return false }
        }
        return true
    }
}
