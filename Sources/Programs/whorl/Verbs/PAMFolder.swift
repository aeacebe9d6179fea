// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A folder with PAM's files, each of which is replaced completely or not at all.
struct PAMFolder {
    /// The folder that this system uses.
    static let own = "/etc/pam.d"

    let path: String
    /// The folders in which this system's packages install files; libpam uses such a file if `/etc/pam.d` has none with
    /// the same name.
    let vendors: [String]

    /// Creates a description of a folder.
    ///
    /// A folder that belongs to another system has no vendor folders.
    init(path: String, vendors: [String]? = nil) {
        self.path = path
        self.vendors =
            vendors ?? (path == Self.own ? ["/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/share/pam.d"] : [])
    }

    /// The folders in which libpam looks for a file, in order.
    var folders: [String] { [path] + vendors }

    /// Returns the file that libpam uses for a service.
    func stack(of service: String) throws(Failure) -> PAMStack {
        try Self.stack(vendorFile(of: service) ?? "\(path)/\(service)")
    }

    /// Returns the path of the packaged file of a service if this folder has no file for the service.
    ///
    /// A package update replaces that file.
    func vendorFile(of service: String) -> String? {
        var found = Glibc.stat()
        // A broken link is also a file here, and is not skipped.
        guard lstat("\(path)/\(service)", &found) != 0, errno == ENOENT else { return nil }
        return original(of: service)
    }

    /// Returns the path of the packaged file of a service, regardless of what this folder contains.
    private func original(of service: String) -> String? {
        vendors.lazy.map { (folder: String) -> String in "\(folder)/\(service)" }.first {
            access($0, F_OK) == 0
        }
    }

    /// Returns the path of a service's packaged file if it was copied to this folder and has changed since.
    func changedVendorFile(of service: String) -> String? {
        guard let copied = Self.read(vendorCopy(of: service)),
            let file = original(of: service), let now = Self.read(file), now != copied
        else { return nil }
        return file
    }

    /// Returns a service's packaged file as it was when it was copied to this folder; `nil` if it was not.
    func copiedStack(of service: String) throws(Failure) -> PAMStack? {
        access(vendorCopy(of: service), F_OK) == 0 ? try Self.stack(vendorCopy(of: service)) : nil
    }

    /// Returns the file that libpam uses for an included name; `nil` if it cannot be read.
    func included(_ name: String) -> PAMStack? {
        // The chain with this file is refused as a whole, and the file is named.
        guard name.hasPrefix("/") else { return try? stack(of: name) }
        return try? Self.stack(name)
    }

    private static func stack(_ file: String) throws(Failure) -> PAMStack {
        guard let read = Self.read(file) else { throw .pam("Cannot read \(file)", errno) }
        guard let text = String(validating: read, as: UTF8.self) else {
            throw .pam("\(file) is not a text file", EINVAL)
        }
        return PAMStack(text: text)
    }

    /// Returns whether any file that a service's file includes names the module, at any depth that libpam accepts.
    func includesModule(_ stack: PAMStack, depth: Int = 0) -> Bool {
        stack.included.contains { name in
            // An unreadable file has no known lines.
            guard depth < 32, let inner = included(name) else { return false }
            return inner.hasModule || includesModule(inner, depth: depth + 1)
        }
    }

    /// Returns whether a file contains or includes authentication lines; `true` for an unreadable file, which may
    /// contain some.
    func hasLogins(_ name: String, depth: Int = 0) -> Bool {
        // As above, but in the other direction: an unknown file may contain a line that must not be skipped.
        guard depth < 32, let stack = included(name) else { return true }
        return stack.hasLogins || stack.included.contains { hasLogins($0, depth: depth + 1) }
    }

    /// Returns the path of the backup of the original file.
    func copy(of service: String) -> String { "\(path)/.\(service).before-whorl" }

    /// Returns the path of the packaged file as it was when it was copied to this folder.
    func vendorCopy(of service: String) -> String { "\(path)/.\(service).copied-by-whorl" }

    /// Replaces a service's file after saving a backup of the old one.
    ///
    /// A packaged file is not changed: libpam uses the file in this folder instead.
    func replace(_ service: String, _ old: PAMStack, by new: PAMStack) throws(Failure) {
        let vendor = vendorFile(of: service)
        try requireUnchanged(service, old)
        let file = try PAMFile(folder: path, service: service, copying: vendor)
        if vendor == nil {
            try file.write(old, to: copy(of: service))
            try file.write(new, to: "\(path)/\(service)")
            // This file belongs to the administrator: it is not removed with the line.
            unlink(vendorCopy(of: service))
        } else {
            // In this order: without the second file, the first one stays when the line is removed.
            try file.write(new, to: "\(path)/\(service)")
            try file.write(old, to: vendorCopy(of: service))
        }
    }

    /// Replaces a service's file, and removes the backup if it is identical to the new file.
    ///
    /// If the file was copied from the packaged file and is identical to it again, the copy is removed.
    func restore(_ service: String, _ old: PAMStack, to stack: PAMStack) throws(Failure) {
        if let vendor = vendorFile(of: service) {
            throw .vendorFile(vendor, copied: "\(path)/\(service)")
        }
        try requireUnchanged(service, old)
        if let copied = Self.read(vendorCopy(of: service)), copied == Array(stack.text.utf8) {
            unlink(vendorCopy(of: service))
            guard unlink("\(path)/\(service)") == 0 else {
                throw .pam("Cannot remove \(path)/\(service)", errno)
            }
            return
        }
        try PAMFile(folder: path, service: service).write(stack, to: "\(path)/\(service)")
        if let kept = Self.read(copy(of: service)), kept == Array(stack.text.utf8) {
            unlink(copy(of: service))
        }
    }

    /// Checks that a service's file has not changed since it was read; throws if it has.
    private func requireUnchanged(_ service: String, _ old: PAMStack) throws(Failure) {
        guard try stack(of: service) == old else {
            throw .pam("\(path)/\(service) was changed by another program", EAGAIN)
        }
    }

    private static func read(_ file: String) -> [UInt8]? {
        // Opening a pipe without a writer must not block.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var found = Glibc.stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            errno = EINVAL
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        // A larger one is not a PAM file.
        guard count >= 0, count < bytes.count else {
            if count >= 0 { errno = EFBIG }
            return nil
        }
        return Array(bytes.prefix(count))
    }
}

extension Failure {
    /// Returns the failure for a line in a file installed by a package.
    fileprivate static func vendorFile(_ file: String, copied copy: String) -> Failure {
        Failure(
            code: "pamFailed",
            message: "The line is in \(file), which is managed by the system.",
            recovery: "Copy the file, and run this again: `sudo cp \(file) \(copy)`."
        )
    }

    /// Returns the failure for an operation on a PAM file.
    static func pam(_ message: String, _ cause: Int32) -> Failure {
        Failure(
            code: "pamFailed",
            message: "\(message): \(String(cString: strerror(cause))).",
            recovery: pamRecovery(cause)
        )
    }

    private static func pamRecovery(_ cause: Int32) -> String {
        switch cause {
        case EACCES: "Run it as root: `sudo whorl pam …`."
        case EPERM, EROFS: "Check whether it is writable: `lsattr`, `findmnt`."
        case ELOOP: "Name the service that the link points to, or add the line yourself (Docs/PAM.md)."
        case EAGAIN: "Run it again."
        default: "Check the name of the service: `ls /etc/pam.d`."
        }
    }
}
