// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// The reason why a file or folder is not this user's alone.
package enum FileFault: Sendable, Hashable {
    /// It is a symbolic link.
    case link
    /// It is of another kind than expected; the number is its kind (`S_IFMT`).
    case kind(mode_t)
    /// It belongs to the user of this number.
    case owner(uid_t)
    /// Others have rights on it; these are all its rights.
    case mode(mode_t)

    /// Checks what `stat(2)` found; `nil` if it is of the expected kind and only this process's effective user
    /// can use it.
    package init?(_ found: stat, expecting kind: mode_t) {
        let present = found.st_mode & S_IFMT
        if present == S_IFLNK {
            self = .link
        } else if present != kind {
            self = .kind(present)
        } else if found.st_uid != geteuid() {
            self = .owner(found.st_uid)
        } else if found.st_mode & 0o077 != 0 {
            self = .mode(found.st_mode & 0o777)
        } else {
            return nil
        }
    }
}
