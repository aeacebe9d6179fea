// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore
package import WhorlService

/// The rows of all programs.
extension KeychainRows {
    /// Returns the access groups of the profile's rows, and how many rows there are, whether or not they can be read.
    ///
    /// The groups are those that the rows' columns name; a row whose column was edited is found in none.
    package func stored() throws(StateError) -> (groups: [String], count: Int) {
        guard let database = try existing() else { return ([], 0) }
        let profile = profile
        return try database.readBlocking { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT agrp, COUNT(*) FROM keychain_items WHERE profile = ? GROUP BY agrp ORDER BY agrp
                    """,
                arguments: [profile]
            )
            let groups = rows.compactMap { String.fromDatabaseValue($0[0]) }
            return (groups, rows.reduce(0) { $0 + (Int.fromDatabaseValue($1[1]) ?? 0) })
        }
    }
}
