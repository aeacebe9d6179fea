// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlStateStore
package import WhorlService
package import WhorlSupport

/// The state folders of all accounts, which are stored in the service's folder and named after the accounts' user IDs.
///
/// Neither a user ID nor a name is enough to identify an account (see ``AccountMark``). If the user database does not
/// respond, nothing is created or deleted.
package struct AccountFolders: Sendable {
    private let root: String
    private let lookup: @Sendable (UInt32) -> AccountLookup

    /// An account that may use its state folder.
    package struct Resident: Sendable, Hashable {
        package let account: SystemAccount
        /// The name under which the folder's rows are stored.
        package let profile: String
        /// Whether the account was renamed, so that its fingers are not trusted.
        package let isRenamed: Bool
    }

    /// Creates access to the service's folder.
    ///
    /// - Parameters:
    ///   - root: The folder of the service.
    ///   - lookup: Returns the account with a user ID; tests pass their own function.
    package init(
        _ root: String,
        lookup: @escaping @Sendable (UInt32) -> AccountLookup = { ThisProcess.account(of: $0) }
    ) {
        self.root = root
        self.lookup = lookup
    }

    /// Returns the state folder of the account with a user ID.
    package func directory(of number: UInt32) -> StateDirectory { StateDirectory(path: "\(root)/\(number)") }

    /// Returns the path of the state folder of the account with a user ID.
    package func path(of number: UInt32) -> String { directory(of: number).path }

    /// Returns the trust for an account's folder, which is named after the user ID.
    package func trust(in account: SystemAccount) -> AccountTrust {
        AccountTrust(account, in: directory(of: account.number))
    }

    /// Returns the account that may use the folder for a user ID.
    ///
    /// - Throws: An error if there is no such account.
    package func resident(_ number: UInt32) throws(ServiceError) -> Resident {
        let folder = directory(of: number)
        guard !isSpooled(number) else { throw .beingRemoved(folder.path) }
        let account: SystemAccount
        switch lookup(number) {
        case .found(let found): account = found
        case .missing: throw .noAccount(number, folder.path)
        case .unavailable(let cause): throw .noUserDatabase(number, folder.path, cause)
        }
        guard try PrivateFiles.checkDirectory(folder.path) else {
            return Resident(account: account, profile: account.name, isRenamed: false)
        }
        // User ID 0 is root, whatever its name, and its folder holds the counters of the whole system.
        if number == 0 {
            let mark = (try? AccountMark.read(in: folder)) ?? nil
            return Resident(account: account, profile: mark?.profile ?? account.name, isRenamed: false)
        }
        guard let mark = try AccountMark.read(in: folder) else {
            // The service may have been killed right after it created the folder.
            guard !hasDatabase(folder) else { throw .otherAccount(nil, account, folder.path) }
            return Resident(account: account, profile: account.name, isRenamed: false)
        }
        switch mark.standing(of: account) {
        case .same: return Resident(account: account, profile: mark.profile, isRenamed: false)
        case .renamed: return Resident(account: account, profile: mark.profile, isRenamed: true)
        case .other: throw .otherAccount(mark.name, account, folder.path)
        }
    }

    /// Returns information about each folder, in the order of the user IDs.
    ///
    /// - Throws: `notWritable` or `failed` if the service's folder cannot be listed.
    package func all() throws(ServiceError) -> [StoredAccount] {
        try names().compactMap { UInt32($0) }.sorted().map(described)
    }

    private func described(_ number: UInt32) -> StoredAccount {
        let mark: AccountMark?
        // An unreadable mark is listed as missing, and root decides.
        mark = (try? AccountMark.read(in: directory(of: number))) ?? nil
        let (current, state): (String?, StoredAccount.State) =
            switch lookup(number) {
            case .unavailable: (nil, .unknown)
            case .missing: (nil, .missing)
            case .found(let account):
                switch mark?.standing(of: account) {
                case .same: (account.name, .same)
                case .renamed: (account.name, .renamed)
                case .other, nil: (account.name, .other)
                }
            }
        return StoredAccount(number: number, name: mark?.name, current: current, state: state)
    }

    /// Returns the account with a user ID; root is about to confirm or remove the account's folder.
    ///
    /// - Throws: An error if the user database does not respond.
    package func account(_ number: UInt32) throws(ServiceError) -> SystemAccount? {
        switch lookup(number) {
        case .found(let account): account
        case .missing: nil
        case .unavailable(let cause): throw .noUserDatabase(number, directory(of: number).path, cause)
        }
    }

    /// An account that no longer exists and whose folder is being removed.
    package struct Former: Sendable, Hashable {
        package let account: SystemAccount
        /// The name under which the folder's rows are stored.
        package let profile: String
        /// The reason why the name is unknown, which means that rows cannot be found by it; `nil` if it is known.
        package let doubt: String?
    }

    /// Returns the account for which a folder was created; `nil` if the folder contains neither a mark nor a database.
    ///
    /// If the mark cannot be read, rows cannot be found by the account's name. The TPM's counters belong to the entire
    /// folder and are found anyway.
    package func former(_ number: UInt32) -> Former? {
        let folder = directory(of: number)
        let doubt: String
        do throws(ServiceError) {
            if let mark = try AccountMark.read(in: folder) {
                let account = SystemAccount(
                    number: number,
                    name: mark.name,
                    group: mark.group,
                    home: mark.home
                )
                return Former(account: account, profile: mark.profile, doubt: nil)
            }
            guard hasDatabase(folder) else { return nil }
            doubt = "the file that names the account is missing"
        } catch {
            doubt = "the file that names the account cannot be read (\(error))"
        }
        let account = SystemAccount(number: number, name: "\(number)", group: number, home: "")
        return Former(account: account, profile: account.name, doubt: doubt)
    }

    /// Returns the mark in the folder for a user ID.
    package func mark(_ number: UInt32) throws(ServiceError) -> AccountMark? {
        try AccountMark.read(in: directory(of: number))
    }

    /// Checks that the account whose state is stored in a folder no longer exists; throws if it does.
    package func requireFormer(_ number: UInt32) throws(ServiceError) {
        guard let account = try account(number), let mark = try mark(number),
            mark.standing(of: account) == .same
        else { return }
        throw .accountExists(account, directory(of: number).path)
    }

    private func hasDatabase(_ folder: StateDirectory) -> Bool {
        access(folder.file("whorl.sqlite"), F_OK) == 0
    }

    private func names() throws(ServiceError) -> [String] {
        guard let opened = opendir(root) else {
            if errno == ENOENT { return [] }
            throw ServiceError(errno: errno, path: root)
        }
        defer { closedir(opened) }
        var names: [String] = []
        while let entry = readdir(opened) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
        }
        return names
    }
}

/// The functions that remove the state of accounts that no longer exist.
extension AccountFolders {
    /// The prefix of the symbolic links that userdel's hook and ``spool(_:)`` create; the user ID follows it.
    private static let spool = "removed-"
    /// The prefix for the names of folders that are being deleted.
    private static let trash = ".removing-"

    /// Records that the state for a user ID is being removed, so that a crash does not leave a part of it.
    ///
    /// - Throws: `diskFull`, `notWritable` or `failed`; nothing was removed.
    package func spool(_ number: UInt32) throws(ServiceError) {
        guard symlink("being removed", spoolPath(number)) == 0 || errno == EEXIST else {
            throw ServiceError(errno: errno, path: spoolPath(number))
        }
        try PrivateFiles.syncDirectory(root)
    }

    /// Returns the user IDs whose state must be removed, because userdel has deleted the account or the removal was begun.
    package func spooled() throws(ServiceError) -> [UInt32] {
        try names().filter { $0.hasPrefix(Self.spool) }.compactMap { UInt32($0.dropFirst(Self.spool.count)) }
    }

    /// Returns whether the state for a user ID must be removed; see ``spooled()``.
    package func isSpooled(_ number: UInt32) -> Bool {
        var found = stat()
        return lstat(spoolPath(number), &found) == 0
    }

    private func spoolPath(_ number: UInt32) -> String { "\(root)/\(Self.spool)\(number)" }

    /// Deletes the folder for a user ID, and then the link that says so.
    ///
    /// The folder is renamed first, so that a partially deleted folder is never found.
    package func discard(_ number: UInt32) throws(ServiceError) {
        let path = directory(of: number).path
        let aside = "\(root)/\(Self.trash)\(number)-\(UInt64.random(in: .min ... .max))"
        guard rename(path, aside) == 0 || errno == ENOENT else {
            throw ServiceError(errno: errno, path: path)
        }
        try PrivateFiles.syncDirectory(root)
        emptyTrash()
        guard unlink(spoolPath(number)) == 0 || errno == ENOENT else {
            throw ServiceError(errno: errno, path: spoolPath(number))
        }
        try PrivateFiles.syncDirectory(root)
    }

    /// Deletes folders whose deletion was begun but not completed, for example because of a crash.
    package func emptyTrash() {
        // Anything that cannot be listed or deleted now is deleted at the next start of the service.
        for name in (try? names()) ?? [] where name.hasPrefix(Self.trash) {
            let folder = "\(root)/\(name)"
            for file in Self.files(in: folder) { unlink("\(folder)/\(file)") }
            rmdir(folder)
        }
    }

    /// Returns the names of the files in a state folder, which does not have subfolders.
    private static func files(in folder: String) -> [String] {
        (try? AccountFolders(folder).names()) ?? []  // a folder that cannot be listed stays
    }
}

extension ServiceError {
    fileprivate static func noAccount(_ number: UInt32, _ path: String) -> ServiceError {
        ServiceError(
            .storeFailed,
            path,
            message: "User ID \(number) has no account.",
            recovery: "The service is only for accounts of this system: `getent passwd \(number)`.",
            cause: "no account"
        )
    }

    fileprivate static func noUserDatabase(_ number: UInt32, _ path: String, _ cause: Int32) -> ServiceError {
        ServiceError(
            .storeFailed,
            path,
            message:
                "Cannot look up the owner of this data in the user database. Nothing was changed.",
            recovery: "Try again when this works: `getent passwd \(number)`.",
            cause: "getpwuid_r: errno \(cause): \(String(cString: strerror(cause)))"
        )
    }

    fileprivate static func otherAccount(_ former: String?, _ now: SystemAccount, _ path: String)
        -> ServiceError
    {
        let name = DisplayText.clean(now.name, limit: 60)
        let before = former.map { "“\(DisplayText.clean($0, limit: 60))”" } ?? "an unknown account"
        return ServiceError(
            .storeFailed,
            path,
            message:
                "The fingers and items of user ID \(now.number) belong to \(before), but the account is now “\(name)”.",
            recovery:
                "If it is the same user: `sudo whorl account renamed \(now.number)`. Otherwise: `sudo whorl account remove "
                + "\(now.number)`, which deletes them.",
            cause: "another account"
        )
    }

    fileprivate static func accountExists(_ account: SystemAccount, _ path: String) -> ServiceError {
        ServiceError(
            .storeFailed,
            path,
            message: "The account “\(DisplayText.clean(account.name, limit: 60))” still exists.",
            recovery: "Delete the account with `userdel`, which also removes its fingers and items.",
            cause: "the account exists"
        )
    }

    package static func beingRemoved(_ path: String) -> ServiceError {
        ServiceError(
            .storeBusy,
            path,
            message: "The data of this user ID is being removed.",
            recovery: "Try again in a moment."
        )
    }
}
