// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport
internal import WhorlSQLite
internal import Synchronization
package import WhorlService

/// The keychain rows in the database of a state directory.
package final class KeychainRows: KeychainRowService {
    /// A function that returns the open database.
    ///
    /// Its argument is whether to create the database if no state exists. If the argument is `false`, the function
    /// returns `nil` in that case.
    package typealias Opening = @Sendable (_ creating: Bool) async throws(ServiceError) -> StateDatabase?

    package let groups: [String]
    /// The profile that owns the rows.
    let profile: String
    private let open: Opening
    /// The open database, stored so that a call does not have to switch threads to get it.
    private let kept = Mutex<StateDatabase?>(nil)

    /// Creates a service for one program.
    ///
    /// Nothing is opened until a call needs it.
    ///
    /// - Parameters:
    ///   - profile: The profile that owns the rows.
    ///   - groups: The access groups that the program may use. The first one is the program's own group.
    ///   - open: A function that opens the database.
    package init(of profile: String, in groups: [String], open: @escaping Opening) {
        self.profile = profile
        self.groups = groups
        self.open = open
    }

    package func rows(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int
    ) throws(ServiceError) -> [KeychainRow] {
        guard let match = allowed(match), let database = try existing() else { return [] }
        let keys = database.keys
        return try database.readBlocking { db in
            try match.rows(db, of: profile, keys, withValues: withValues, limit: limit)
                .map { $0.row(withValue: withValues, keys) }
        }
    }

    package func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int {
        guard let database = try existing() else { return 0 }
        return try database.transactionBlocking { db -> Result<Int, Never> in
            var count = 0
            for match in matches.compactMap(allowed) {
                let rows = try match.rows(db, of: profile, database.keys, withValues: false)
                for row in rows { try StoredRow.delete(row.id, db) }
                count += rows.count
            }
            return .success(count)
        }.get()
    }

    /// Returns the filter without the groups that the program may not use, or `nil` if no groups are left.
    func allowed(_ match: KeychainMatch) -> KeychainMatch? {
        // Most filters contain only allowed groups, and are not copied.
        if match.groups.allSatisfy(groups.containsBytes) { return match.groups.isEmpty ? nil : match }
        var match = match
        match.groups.removeAll { !groups.containsBytes(of: $0) }
        return match.groups.isEmpty ? nil : match
    }

    // MARK: - The database

    /// Returns the database, or `nil` if no state exists.
    func existing() throws(ServiceError) -> StateDatabase? { try database(creating: false) }

    /// Returns the database, creating it if no state exists.
    func created() throws(ServiceError) -> StateDatabase {
        guard let database = try database(creating: true) else {
            throw ServiceError(.storeFailed, "", cause: "there is no state directory")
        }
        return database
    }

    private func database(creating: Bool) throws(ServiceError) -> StateDatabase? {
        if let database = kept.withLock(\.self) { return database }
        let result = WorkerThread.preflights.wait { [open] () async -> Result<StateDatabase?, ServiceError> in
            do throws(ServiceError) { return .success(try await open(creating)) } catch {
                return .failure(error)
            }
        }
        let database = try result.get()
        kept.withLock { $0 = database }
        return database
    }
}

/// Functions that read many rows in pages.
extension KeychainRows: KeychainPages {
    package func numbers(_ match: KeychainMatch, limit: Int) throws(ServiceError) -> [Int64] {
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
    ) throws(ServiceError) -> KeychainPage {
        var page = KeychainPage()
        guard let match = allowed(match), let database = try existing() else {
            for _ in numbers { page.add(nil) }
            return page
        }
        let (keys, profile) = (database.keys, profile)
        return try database.readBlocking { db in
            for number in numbers where !page.holds(mostBytes) {
                // If the filter specifies a number itself, no other number is allowed.
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

/// Functions that concern the rows of all programs.
extension KeychainRows {
    /// Returns the access groups of the profile's rows and the number of rows, including rows that cannot be read.
    ///
    /// The groups are taken from the rows' columns. A row in which that column was edited does not belong to any of
    /// them.
    package func stored() throws(ServiceError) -> (groups: [String], count: Int) {
        guard let database = try existing() else { return ([], 0) }
        let profile = profile
        return try database.readBlocking { db in
            let rows = try db.all(
                sql: """
                    SELECT agrp, COUNT(*) FROM keychain_items WHERE profile = ? GROUP BY agrp ORDER BY agrp
                    """,
                arguments: [profile]
            ) { row in (group: row[0] as String?, count: try row.column(1) as Int) }
            return (rows.compactMap(\.group), rows.reduce(0) { $0 + $1.count })
        }
    }
}
