// SPDX-License-Identifier: Apache-2.0

internal import StateStore
package import WhorlService

/// Reading many rows in parts.
extension KeychainRows: KeychainPages {
    package func numbers(_ match: KeychainMatch, limit: Int) throws(StateError) -> [Int64] {
        guard let match = allowed(match), let database = try existing() else { return [] }
        let (keys, profile) = (database.keys, profile)
        return try database.readBlocking { db in
            try match.numbers(db, of: profile, keys, limit: limit)
        }
    }

    package func page(
        _ match: KeychainMatch,
        of numbers: ArraySlice<Int64>,
        withValues: Bool,
        mostBytes: Int
    ) throws(StateError) -> KeychainPage {
        var page = KeychainPage()
        guard let match = allowed(match), let database = try existing() else {
            for _ in numbers { page.add(nil) }
            return page
        }
        let (keys, profile) = (database.keys, profile)
        return try database.readBlocking { db in
            for number in numbers where !page.holds(mostBytes) {
                // A number that the filter names itself stays the only one.
                guard match.id.map({ $0 == number }) ?? true else {
                    page.add(nil)
                    continue
                }
                var one = match
                one.id = number
                let row = try one.rows(db, of: profile, keys, withValues: withValues).first
                page.add(row?.row(withValue: withValues, keys))
            }
            return page
        }
    }
}
