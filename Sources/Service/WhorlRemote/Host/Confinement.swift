// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The confinement of a program: whether it is confined, and with which ID.
///
/// A confined program can access only the data that belongs to its ID, which it cannot choose. An unconfined program
/// can claim any name, including that of the same user's confined programs.
package enum Confinement: Sendable, Hashable {
    /// The program is not confined.
    case none
    /// The program is confined, and has this ID.
    case id(String)

    /// Returns the name of the program.
    ///
    /// The name of a confined program is its ID, regardless of what it claims.
    func application(_ named: ApplicationID) -> ApplicationID {
        switch self {
        case .none: named
        case .id(let id): ApplicationID(rawValue: id)
        }
    }

    /// Returns whether the program may see a log line.
    func shows(_ line: AuditEntry) -> Bool {
        switch self {
        case .none: true
        case .id(let id):
            // By bytes: IDs that look alike belong to two programs.
            line.asker?.confinedAs.map { Array($0.utf8) }
                == Asker(user: 0, confinedAs: id).confinedAs.map { Array($0.utf8) }
        }
    }

    /// The prefix for the names under which a confined program's items are stored; `nil` for any other program.
    ///
    /// The ID's letters, digits and `.-_` are kept, and every other byte becomes `+` and two digits. So the first colon
    /// ends the ID, and two IDs never have the same prefix.
    var prefix: String? {
        guard case .id(let id) = self else { return nil }
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        let encoded = id.utf8.map { byte in
            guard !plain.contains(byte) else { return String(UnicodeScalar(byte)) }
            return (byte < 16 ? "+0" : "+") + String(byte, radix: 16)
        }.joined()
        return "confined.\(encoded):"
    }

    /// Returns an item with the name that the program assigned to it; `nil` for another program's item.
    func shown(_ item: VaultItem) -> VaultItem? {
        guard let prefix else { return item }
        let whole = item.id.name.text
        // A remainder that is not a valid name was not stored by the program.
        guard whole.hasPrefix(prefix), let name = try? ItemName(String(whole.dropFirst(prefix.count))) else {
            return nil
        }
        return VaultItem(
            id: ItemID(item.id.kind, name, of: item.id.profile),
            access: item.access,
            createdAt: item.createdAt,
            standing: item.standing
        )
    }
}

/// The names of the items that a caller may use.
///
/// They belong to the connected user's profile, regardless of the profile that the message names.
struct NameSpace: Sendable {
    let profile: String
    let confinement: Confinement

    /// Returns the ID under which an item is stored.
    ///
    /// - Throws: `nameRefused` if the name is too long for a confined program.
    func stored(_ id: ItemID) throws(ServiceError) -> ItemID {
        guard let prefix = confinement.prefix else { return ItemID(id.kind, id.name, of: profile) }
        return ItemID(id.kind, try ItemName(prefix + id.name.text), of: profile)
    }
}

/// The access groups of a caller: those that it names, or a confined program's own group.
struct CallerGroups: Sendable {
    private let named: [String]
    private let own: String?

    init(_ named: [String], _ confinement: Confinement) {
        self.named = named
        own =
            switch confinement {
            case .none: nil
            case .id(let id): id
            }
    }

    /// The groups in which the caller can search for rows.
    var searched: [String] { own.map { [$0] } ?? named }

    /// Returns a filter, converted to the groups in which rows are stored.
    func stored(_ match: KeychainMatch) -> KeychainMatch {
        guard let own else { return match }
        var match = match
        match.groups = match.groups.contains { named.containsBytes(of: $0) } ? [own] : []
        return match
    }

    /// Returns a row, converted to the group in which it is stored.
    func stored(_ row: NewKeychainRow) -> NewKeychainRow {
        guard let own, named.containsBytes(of: row.record.accessGroup) else { return row }
        var row = row
        row.record.accessGroup = own
        return row
    }

    /// Returns a row, with its group replaced by the first one that the caller names.
    func shown(_ row: KeychainRow) -> KeychainRow {
        guard own != nil, let group = named.first else { return row }
        var record = row.record
        record.accessGroup = group
        return KeychainRow(row.version, record, row.contents)
    }

    /// Returns an outcome, with the groups of its rows replaced by the first one that the caller names.
    func shown(_ outcome: KeychainOutcome) -> KeychainOutcome {
        switch outcome {
        case .stored(let rows): .stored(rows.map(shown))
        case .taken(let row): .taken(by: shown(row))
        case .stale, .noPasscode, .groupRefused: outcome
        }
    }
}

extension Preflight {
    /// Returns the result for a caller whose place does not allow prompting for a finger.
    ///
    /// If the passcode is sufficient for the policy, the result does not change.
    func with(_ obstacle: ServiceError?, _ policy: Policy) -> Preflight {
        guard let obstacle, policy == .biometrics || !isPasscodeSet else { return self }
        return Preflight(
            obstacle: ServiceError(
                .biometryNotAvailable,
                message: obstacle.message,
                recovery: obstacle.recovery,
                cause: obstacle.cause
            ),
            hasReader: hasReader,
            readerKind: readerKind,
            domainState: domainState,
            isPasscodeSet: isPasscodeSet
        )
    }
}
