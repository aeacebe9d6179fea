// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder of PAM's files, in which one is replaced as a whole or not at all.
struct PAMFolder {
    /// The folder of this system.
    static let own = "/etc/pam.d"

    /// The folders of the files that come with this system; libpam takes one of these where `/etc/pam.d` has none of its
    /// name.
    private static let vendors = ["/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/share/pam.d"]

    let path: String

    /// The folders in which libpam looks for a file, one after the other.
    var folders: [String] { path == Self.own ? [path] + Self.vendors : [path] }

    /// Returns the file of a service that is in this folder.
    func stack(of service: String) throws(Failure) -> PAMStack {
        do throws(Failure) {
            return try Self.stack("\(path)/\(service)")
        } catch {
            // The file of the system is replaced with its package; libpam takes one in this folder instead of it.
            for folder in folders.dropFirst() where access("\(folder)/\(service)", F_OK) == 0 {
                throw .vendorFile("\(folder)/\(service)", copied: "\(path)/\(service)")
            }
            throw error
        }
    }

    /// Returns the file that libpam takes for a service.
    func effectiveStack(of service: String) throws(Failure) -> PAMStack {
        let holder = folders.first { access("\($0)/\(service)", F_OK) == 0 }
        return try Self.stack("\(holder ?? path)/\(service)")
    }

    /// Returns the file that libpam takes for the name in an include; `nil` if it cannot be read.
    func included(_ name: String) -> PAMStack? {
        // The chain with this file is refused as a whole, and the file is named.
        guard name.hasPrefix("/") else { return try? effectiveStack(of: name) }
        return try? Self.stack(name)
    }

    private static func stack(_ file: String) throws(Failure) -> PAMStack {
        guard let read = Self.read(file) else { throw .pam("\(file) cannot be read", errno) }
        guard let text = String(validating: read, as: UTF8.self) else {
            throw .pam("\(file) is no text", EINVAL)
        }
        return PAMStack(text: text)
    }

    /// Whether a file that a service's file includes names the module, to any depth that libpam takes.
    func includesModule(_ stack: PAMStack, depth: Int = 0) -> Bool {
        stack.included.contains { name in
            // A file that cannot be read has no line that is known.
            guard depth < 32, let inner = included(name) else { return false }
            return inner.hasModule || includesModule(inner, depth: depth + 1)
        }
    }

    /// Whether a file has lines for logins, itself or by one that it includes; one that cannot be read may have some.
    func hasLogins(_ name: String, depth: Int = 0) -> Bool {
        // As above, but the other way round: what is not known is taken for a line that must not be skipped.
        guard depth < 32, let stack = included(name) else { return true }
        return stack.hasLogins || stack.included.contains { hasLogins($0, depth: depth + 1) }
    }

    /// The place of the file as it was before.
    func copy(of service: String) -> String { "\(path)/.\(service).before-whorl" }

    /// Puts a file in the place of a service's, and keeps the one that was there.
    func replace(_ service: String, _ old: PAMStack, by new: PAMStack) throws(Failure) {
        try requireUnchanged(service, old)
        try PAMFile(folder: path, service: service).write(old, to: copy(of: service))
        try PAMFile(folder: path, service: service).write(new, to: "\(path)/\(service)")
    }

    /// Puts a file in the place of a service's, and removes the kept one where it is the same.
    func restore(_ service: String, _ old: PAMStack, to stack: PAMStack) throws(Failure) {
        try requireUnchanged(service, old)
        try PAMFile(folder: path, service: service).write(stack, to: "\(path)/\(service)")
        if let kept = Self.read(copy(of: service)), kept == Array(stack.text.utf8) {
            unlink(copy(of: service))
        }
    }

    /// Throws if a service's file is not the one that was read.
    private func requireUnchanged(_ service: String, _ old: PAMStack) throws(Failure) {
        guard try stack(of: service) == old else {
            throw .pam("\(path)/\(service) was changed meanwhile", EAGAIN)
        }
    }

    private static func read(_ file: String) -> [UInt8]? {
        // A pipe without a writer is not waited for.
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
        // A larger one is no file of PAM's.
        guard count >= 0, count < bytes.count else {
            if count >= 0 { errno = EFBIG }
            return nil
        }
        return Array(bytes.prefix(count))
    }
}

extension Failure {
    /// The failure of a service whose file comes with the system and is replaced with it.
    fileprivate static func vendorFile(_ file: String, copied copy: String) -> Failure {
        Failure(
            code: "pamFailed",
            message: "The service's file is \(file), which the system replaces at an update.",
            recovery: "Copy it, and run this again: `sudo cp \(file) \(copy)`."
        )
    }

    /// The failure of a file of PAM's.
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
        case EPERM, EROFS: "Look whether it may be written: `lsattr`, `findmnt`."
        case ELOOP: "Name the service whose file it leads to, or put the line in by hand (Docs/PAM.md)."
        case EAGAIN: "Run it again."
        default: "Look whether the service's name is right: `ls /etc/pam.d`."
        }
    }
}
