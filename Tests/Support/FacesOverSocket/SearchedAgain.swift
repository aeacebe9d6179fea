// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Rows that are searched for again for each part, as a test has few of them.
struct SearchedAgain: KeychainPages {
    let rows: any KeychainRowService

    var groups: [String] { rows.groups }

    func numbers(_ match: KeychainMatch, limit: Int) throws(ServiceError) -> [Int64] {
        try rows.rows(match, withValues: false, limit: limit).map(\.id)
    }

    func page(
        _ match: KeychainMatch,
        of numbers: ArraySlice<Int64>,
        withValues: Bool,
        mostBytes: Int
    ) throws(ServiceError) -> KeychainPage {
        let found = try rows.rows(match, withValues: withValues, limit: .max)
        var page = KeychainPage()
        for number in numbers where !page.holds(mostBytes) { page.add(found.first { $0.id == number }) }
        return page
    }

    func rows(_ match: KeychainMatch, withValues: Bool, limit: Int) throws(ServiceError) -> [KeychainRow] {
        try rows.rows(match, withValues: withValues, limit: limit)
    }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        try rows.add(new, replacing: replacing)
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        try rows.update(changes, replacing: replacing)
    }

    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int { try rows.delete(matches) }
}
