// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore
internal import WhorlSupport

/// A keychain item as stored in its row, whose authentication code has been verified.
package struct KeychainItem: Sendable, Hashable {
    /// The row's number, which never changes.
    package let id: Int64
    /// The profile that owns the item.
    package let profile: String
    /// Class, attributes and protection.
    package var record: ItemRecord { didSet { encodedRecord = record.encoded } }
    /// The record as stored in the row; the value's encryption is bound to it.
    private(set) var encodedRecord: Data
    /// The value, sealed.
    package var contents: ItemContents

    /// The persistent reference of the item.
    package var reference: PersistentReference { PersistentReference(record.itemClass, id) }

    /// Returns the decrypted value, if the store encrypts it and it was read whole; `nil` if it was not encrypted for
    /// this item.
    func value(_ keys: StateKeys) -> Data? {
        guard case .sealed(let sealed) = contents else { return nil }
        return ValueSeal(keys: keys).open(sealed, for: id, of: profile, encodedRecord)
    }

    /// Returns an unused row number: microseconds since 1970, then 12 random bits, so that older items come first.
    static func newID() -> Int64 {
        let microseconds = Int64(Date().timeIntervalSince1970 * 1_000_000)
        return microseconds << 12 | Int64.random(in: 0..<4096)
    }

    // MARK: - Rows

    /// The attributes that are copied into columns, so that an index finds them.
    static let columns = ["svce", "srvr", "acct", "labl", "klbl", "atag"]

    static let selected = "id, record, sealing, mac"

    /// Returns the bytes that the row's authentication code covers.
    private static func code(
        _ id: Int64,
        _ profile: String,
        _ record: Data,
        _ sealing: Int,
        _ covered: Data
    ) -> Data {
        var bytes = ByteWriter("whorl keychain row v1")
        bytes.append(UInt64(bitPattern: id))
        bytes.append(sized: profile)
        bytes.append(sized: record)
        bytes.append(UInt8(clamping: sealing))
        bytes.append(sized: covered)
        return bytes.data
    }

    /// Reads an item from its row; `nil` for a row whose authentication code or encoding is invalid.
    ///
    /// - Parameters:
    ///   - columns: The columns of ``selected``, and `value`: for a value that the store encrypts at least its tag.
    ///   - profile: The profile that owns the row.
    ///   - keys: The keys that verify the row's authentication code.
    init?(_ columns: ItemColumns, of profile: String, _ keys: StateKeys) {
        guard let id = Int64.fromDatabaseValue(columns.id),
            let record = Data.fromDatabaseValue(columns.record),
            let sealing = Int.fromDatabaseValue(columns.sealing),
            let mac = Data.fromDatabaseValue(columns.mac),
            let value = Data.fromDatabaseValue(columns.value),
            // The code is checked first, so that foreign data is not even parsed.
            keys.isValid(
                mac,
                for: KeychainItem.code(
                    id,
                    profile,
                    record,
                    sealing,
                    sealing == 1 ? value.suffix(SaltedCipher.tagSize) : value
                ),
                .keychainRows
            ),
            let decoded = ItemRecord(own: record),
            let contents = ItemContents(sealing: sealing, encoded: value)
        else { return nil }
        self.id = id
        self.profile = profile
        self.record = decoded.normalized
        self.contents = contents
        encodedRecord = record
    }

    init(id: Int64, profile: String, record: ItemRecord, contents: ItemContents) {
        self.id = id
        self.profile = profile
        self.record = record
        self.contents = contents
        encodedRecord = record.encoded
    }

    /// - Throws: `SQLITE_CONSTRAINT` if such an item exists already.
    func insert(_ db: Database, _ keys: StateKeys) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO keychain_items (id, profile, class, agrp, pdmn, name, svce, srvr, acct, labl, klbl, atag,
                    record, sealing, value, mac)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [id] + arguments(keys))
    }

    /// - Throws: The same errors as ``insert(_:_:)``.
    func replace(_ db: Database, _ keys: StateKeys) throws {
        try db.cachedStatement(
            sql: """
                UPDATE keychain_items SET profile = ?, class = ?, agrp = ?, pdmn = ?, name = ?, svce = ?, srvr = ?,
                    acct = ?, labl = ?, klbl = ?, atag = ?, record = ?, sealing = ?, value = ?, mac = ?
                WHERE id = ?
                """
        ).execute(arguments: arguments(keys) + [id])
    }

    static func delete(_ id: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM keychain_items WHERE id = ?").execute(arguments: [id])
    }

    private func arguments(_ keys: StateKeys) -> StatementArguments {
        var arguments: StatementArguments = [
            profile, record.itemClass.rawValue, record.accessGroup, record.accessible,
            keys.code(for: record.identity(of: profile), .keychainRows),
        ]
        for column in KeychainItem.columns {
            arguments += [record.attributes[column]?.encoded]
        }
        let code = KeychainItem.code(id, profile, encodedRecord, contents.sealing, contents.covered)
        arguments += [
            encodedRecord, contents.sealing, contents.encoded, keys.code(for: code, .keychainRows),
        ]
        return arguments
    }
}
