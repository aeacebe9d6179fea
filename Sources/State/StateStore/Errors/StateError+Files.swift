// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlService
package import WhorlSupport

extension StateError {
    /// Creates an error that says why a file cannot be trusted, and how to fix it.
    package init(file fault: FileFault, path: String) {
        switch fault {
        case .link, .kind:
            let kind = fault == .link ? "a link" : "not a plain file"
            self.init(
                .tooOpen,
                path: path,
                message: "\(path) is \(kind), and state is not written through that.",
                recovery: "Look where it came from, then move it away: `mv \(shellQuoted(path)) /var/tmp/`."
            )
        case .owner, .mode: self.init(access: fault, path: path, closing: "chmod 600")
        }
    }

    /// Creates an error that says why the state directory cannot be trusted, and how to fix it.
    init(folder fault: FileFault, path: String) {
        switch fault {
        case .link, .kind:
            self.init(
                .notWritable,
                path: path,
                message: "\(path) is not a directory.",
                recovery: "Move it away, or name another directory with --state-dir."
            )
        case .owner, .mode: self.init(access: fault, path: path, closing: "chmod 700")
        }
    }

    /// Creates an error that says why a lock file cannot be used; a lock that another process holds is `busy`.
    package init(_ error: FileLockError, path: String) {
        switch error {
        case .held, .cancelled: self.init(.busy, path: path)
        case .unusable(let fault): self.init(file: fault, path: path)
        case .system(let code): self.init(errno: code, path: path)
        }
    }

    private init(access fault: FileFault, path: String, closing command: String) {
        if case .owner(let user) = fault {
            self.init(
                .tooOpen,
                path: path,
                message: "\(path) belongs to another user (uid \(user)).",
                recovery:
                    "Use it as that user, give it back with `sudo chown \(geteuid()) \(shellQuoted(path))`, "
                    + "or name another directory with --state-dir."
            )
        } else {
            let mode = if case .mode(let mode) = fault { "0" + String(mode, radix: 8) } else { "unknown" }
            self.init(
                .tooOpen,
                path: path,
                message: "\(path) is open to others than its owner (mode \(mode)).",
                recovery: "Close it: `\(command) \(shellQuoted(path))`."
            )
        }
    }
}
