// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// Whether a program is confined, and as which program.
///
/// A confined program sees only the data that belongs to its ID, and cannot choose the ID. An unconfined program can
/// claim any name, and can also imitate a confined one of the same user.
package enum Confinement: Sendable, Hashable {
    /// The program is not confined.
    case none
    /// The program is confined, and has this ID.
    case id(String)

    /// Returns the name of the program: for a confined one, this is its ID, whatever it claims.
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

    /// The prefix of the names under which a confined program's items are stored; `nil` for any other program.
    ///
    /// Letters, digits and `.-_` of the ID are kept; any other byte becomes `+` and two digits. So the first colon ends
    /// the ID, and no two IDs share a prefix.
    var prefix: String? {
        guard case .id(let id) = self else { return nil }
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        let encoded = id.utf8.map { byte in
            guard !plain.contains(byte) else { return String(UnicodeScalar(byte)) }
            return (byte < 16 ? "+0" : "+") + String(byte, radix: 16)
        }.joined()
        return "confined.\(encoded):"
    }

    /// Returns an item under the name assigned by the program; `nil` for another program's item.
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

/// The names of items that a caller may use: those of the connected user's profile, whatever profile the message names.
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

/// The access groups of a caller: those that it names, or always a confined program's own group.
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

    /// The groups in which the caller may search for rows.
    var searched: [String] { own.map { [$0] } ?? named }

    /// Converts a filter to the stored groups.
    func stored(_ match: KeychainMatch) -> KeychainMatch {
        guard let own else { return match }
        var match = match
        match.groups = match.groups.contains { named.containsBytes(of: $0) } ? [own] : []
        return match
    }

    /// Converts a row to its stored group.
    func stored(_ row: NewKeychainRow) -> NewKeychainRow {
        guard let own, named.containsBytes(of: row.record.accessGroup) else { return row }
        var row = row
        row.record.accessGroup = own
        return row
    }

    /// Returns a row under the first group that the caller names.
    func shown(_ row: KeychainRow) -> KeychainRow {
        guard own != nil, let group = named.first else { return row }
        var record = row.record
        record.accessGroup = group
        return KeychainRow(row.version, record, row.contents)
    }

    /// Returns an outcome with its rows under the first group that the caller names.
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
    /// If the passcode meets the policy, the result stays the same.
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
