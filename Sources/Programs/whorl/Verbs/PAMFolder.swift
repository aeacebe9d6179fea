// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// The folder of PAM's files, in which one is replaced as a whole or not at all.
struct PAMFolder {
    /// The folder of this system.
    static let own = "/etc/pam.d"

    let path: String

    /// Returns the file of a service.
    func stack(of service: String) throws(Failure) -> PAMStack {
        let file = "\(path)/\(service)"
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
            guard depth < 8, !name.contains("/"), let inner = try? self.stack(of: name) else { return false }
            return inner.hasModule || includesModule(inner, depth: depth + 1)
        }
    }

    /// The place of the file as it was before.
    func copy(of service: String) -> String { "\(path)/.\(service).before-whorl" }

    /// Puts a file in the place of a service's, and keeps the one that was there.
    func replace(_ service: String, _ old: PAMStack, by new: PAMStack) throws(Failure) {
        try write(old, to: copy(of: service), like: service)
        try write(new, to: "\(path)/\(service)", like: service)
    }

    /// Puts a file in the place of a service's, and removes the kept one where it is the same.
    func restore(_ service: String, to stack: PAMStack) throws(Failure) {
        try write(stack, to: "\(path)/\(service)", like: service)
        if let kept = Self.read(copy(of: service)), kept == Array(stack.text.utf8) {
            unlink(copy(of: service))
        }
    }

    /// Writes a file beside its place, with the owner and rights of a service's, and then moves it there.
    private func write(_ stack: PAMStack, to place: String, like service: String) throws(Failure) {
        var model = Glibc.stat()
        guard stat("\(path)/\(service)", &model) == 0 else {
            throw .pam("\(path)/\(service) is not there", errno)
        }
        let new = "\(place).new"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .pam("\(new) cannot be written", errno) }
        defer { close(descriptor) }
        let bytes = Array(stack.text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count,
            fchown(descriptor, model.st_uid, model.st_gid) == 0,
            fchmod(descriptor, model.st_mode & 0o777) == 0,
            fsync(descriptor) == 0, rename(new, place) == 0
        else {
            let cause = errno
            unlink(new)
            throw .pam("\(place) cannot be written", cause)
        }
    }

    private static func read(_ file: String) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
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
    /// The failure of a file of PAM's.
    fileprivate static func pam(_ message: String, _ cause: Int32) -> Failure {
        Failure(
            code: "pamFailed",
            rawValue: nil,
            status: .failure,
            message: "\(message): \(String(cString: strerror(cause))).",
            reason: "",
            recovery: cause == EACCES
                ? "Run it as root: `sudo whorl pam …`."
                : "Look whether the service's name is right: `ls /etc/pam.d`."
        )
    }
}
