// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// Whether a program is confined, and as which program.
///
/// A confined program has what belongs to its id, and nothing else exists for it; it cannot choose the id. An unconfined
/// program can take any name, and can also imitate a confined one of the same user.
package enum Confinement: Sendable, Hashable {
    /// The program is not confined.
    case none
    /// The program is confined, and has this id.
    case id(String)

    /// Returns the name of the program: a confined one has its id, whatever it says.
    func application(_ named: ApplicationID) -> ApplicationID {
        switch self {
        case .none: named
        case .id(let id): ApplicationID(rawValue: id)
        }
    }

    /// Whether a line of the log is for the program to see.
    func shows(_ line: AuditEntry) -> Bool {
        switch self {
        case .none: true
        case .id(let id):
            // By bytes: ids that look alike are two programs.
            line.asker?.confinedAs.map { Array($0.utf8) }
                == Asker(user: 0, confinedAs: id).confinedAs.map { Array($0.utf8) }
        }
    }

    /// The beginning of the names under which a confined program's items are stored; `nil` for any other program.
    ///
    /// Letters, digits and `.-_` of the id stay; any other byte is `+` and two digits, so that the first colon ends the
    /// id, and no two ids have one beginning.
    var prefix: String? {
        guard case .id(let id) = self else { return nil }
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        let encoded = id.utf8.map { byte in
            guard !plain.contains(byte) else { return String(UnicodeScalar(byte)) }
            return (byte < 16 ? "+0" : "+") + String(byte, radix: 16)
        }.joined()
        return "confined.\(encoded):"
    }

    /// Returns an item under the name that the program gave it; `nil` for another program's item.
    func shown(_ item: VaultItem) -> VaultItem? {
        guard let prefix else { return item }
        let whole = item.id.name.text
        // A rest that is no name was not stored by the program.
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

/// The names of items that a caller may use: those of its user's profile, whatever profile the message names.
struct NameSpace: Sendable {
    let profile: String
    let confinement: Confinement

    /// Returns the identity under which an item is stored.
    ///
    /// - Throws: `nameRefused` for a name that is too long for a confined program.
    func stored(_ id: ItemID) throws(ServiceError) -> ItemID {
        guard let prefix = confinement.prefix else { return ItemID(id.kind, id.name, of: profile) }
        return ItemID(id.kind, try ItemName(prefix + id.name.text), of: profile)
    }
}

/// The access groups of a caller: those that it names, or a confined program's own group in place of each of them.
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

    /// The groups whose rows the caller may use.
    var searched: [String] { own.map { [$0] } ?? named }

    /// Returns a filter for the rows as they are stored.
    func stored(_ match: KeychainMatch) -> KeychainMatch {
        guard let own else { return match }
        var match = match
        match.groups = match.groups.contains { named.containsBytes(of: $0) } ? [own] : []
        return match
    }

    /// Returns a row as it is stored.
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
    /// Returns the answer for a caller whose place lets no finger be asked for.
    ///
    /// Where the passcode meets the policy, the answer stays.
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
