// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// The reason why a file or folder is not usable by this user alone.
package enum FileFault: Sendable, Hashable {
    /// The file is a symbolic link.
    case link
    /// The file is of another kind than expected; the number is its kind (`S_IFMT`).
    case kind(mode_t)
    /// The file belongs to the user with this number.
    case owner(uid_t)
    /// Other users have rights on the file; the number is its mode.
    case mode(mode_t)

    /// Checks the result of `stat(2)`; `nil` if the file is of the expected kind and only this process's effective user
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
