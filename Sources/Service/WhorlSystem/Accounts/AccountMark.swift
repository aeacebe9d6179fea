// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory
package import WhorlStateStore
package import WhorlService
package import WhorlSupport

/// The account to which a state folder belongs, as it was in the user database when the folder was created or last
/// confirmed.
///
/// The folder is named after the account's user ID, but user IDs are reused. The mark distinguishes the folder's
/// account from a later account with the same user ID.
package struct AccountMark: Sendable, Hashable {
    /// The name under which the database's rows are stored, which is the account's original name.
    package let profile: String
    /// The account's last confirmed name.
    package let name: String
    /// The ID of the account's own group.
    package let group: UInt32
    /// The path of the account's home folder.
    package let home: String

    /// Creates the mark for an account's new folder.
    package init(_ account: SystemAccount) { self.init(account, profile: account.name) }

    private init(_ account: SystemAccount, profile: String) {
        self.profile = profile
        name = account.name
        group = account.group
        home = account.home
    }

    /// Returns the mark after it was confirmed that an account is still the same.
    package func confirmed(as account: SystemAccount) -> AccountMark {
        AccountMark(account, profile: profile)
    }

    /// Returns how an account relates to this mark's account.
    package func standing(of account: SystemAccount) -> AccountStanding {
        if account.name == name { return .same }
        let keptItsHome = home == account.home && group == account.group && !Self.shared.contains(home)
        return keptItsHome ? .renamed : .other
    }

    /// The home folders that many accounts share, so that they do not identify an account.
    private static let shared: Set = [
        "", "/", "/bin", "/dev/null", "/home", "/nonexistent", "/root", "/run", "/tmp", "/usr/sbin", "/var",
        "/var/empty",
    ]
}

/// The relation between the account that now has a user ID and the one that owns the state folder with that ID.
package enum AccountStanding: Sendable, Hashable {
    /// The name is the same.
    case same
    /// The name has changed, but the home folder and group have not, as after `usermod --login`.
    case renamed
    /// The name has changed, and so has the home folder or the group. It may be another account with the same user ID.
    case other
}

/// The mark's format on disk: one line in the style of passwd(5) whose fields do not contain colons or line breaks.
extension AccountMark {
    private static let file = "account"
    private static let largest = 65_536

    private var line: String { "\(profile):\(name):\(group):\(home)\n" }

    private init?(line: String) {
        let fields = line.dropLast().split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard line.last == "\n", fields.count == 4, !fields[0].isEmpty, !fields[1].isEmpty,
            let group = UInt32(fields[2])
        else { return nil }
        (profile, name, self.group, home) = (fields[0], fields[1], group, fields[3])
    }

    /// Reads the mark in a state folder; returns `nil` if there is none.
    ///
    /// - Throws: `damaged` if the mark is invalid; `notWritable`, `tooOpen` or `failed` if it cannot be read.
    package static func read(in folder: StateDirectory) throws(ServiceError) -> AccountMark? {
        let path = folder.file(file)
        guard let bytes = try PrivateFiles.read(path, atMost: largest) else { return nil }
        let text = bytes.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
        guard let mark = text.flatMap(AccountMark.init(line:)) else {
            throw ServiceError(.storeDamaged, path)
        }
        return mark
    }

    /// Writes the mark to a state folder, replacing the previous one.
    ///
    /// - Throws: `notWritable`, `diskFull` or `failed` if the mark cannot be written.
    package func write(in folder: StateDirectory) throws(ServiceError) {
        let path = folder.file(Self.file)
        let draft = PrivateFiles.temporaryName(beside: path)
        let bytes = SecretBytes(copying: Array(line.utf8).span.bytes)
        guard try PrivateFiles.publish(bytes, as: draft, in: folder.path), rename(draft, path) == 0 else {
            let cause = errno
            unlink(draft)
            throw ServiceError(errno: cause, path: path)
        }
        try PrivateFiles.syncDirectory(folder.path)
    }
}
