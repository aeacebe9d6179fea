// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import WhorlSQLite
import WhorlService
internal import WhorlSupport

/// A keychain item as stored in its row, with a verified authentication code.
struct StoredRow: Sendable {
    /// The row's number, which never changes.
    let id: Int64
    /// The profile that owns the item.
    let profile: String
    /// The class, attributes and protection.
    let record: KeychainRecord
    /// The record as stored in the row.
    ///
    /// The encryption of the value is bound to it.
    private let encodedRecord: Data
    /// The sealed value.
    let contents: StoredContents
    /// The row's authentication code.
    private let mac: Data

    /// Returns the decrypted value if the store encrypts it and it was read completely.
    ///
    /// Otherwise, or if the value was not encrypted for this item, it returns `nil`.
    func value(_ keys: StateKeys) -> Data? {
        guard case .sealed(let sealed) = contents else { return nil }
        return ValueCipher(keys: keys).open(sealed, for: id, of: profile, encodedRecord)
    }

    /// The version of the row.
    var version: KeychainRowVersion { KeychainRowVersion(id: id, revision: mac) }

    /// Returns the row in the form that callers receive.
    func row(withValue: Bool, _ keys: StateKeys) -> KeychainRow {
        let shown: KeychainContents =
            switch contents {
            case .sealed: withValue ? value(keys).map { .value($0) } ?? .damaged : .encrypted
            case .secret(let item), .key(let item): .sealed(item)
            }
        return KeychainRow(version, record, shown)
    }

    /// Returns an unused row number, which consists of the microseconds since 1970 and 12 random bits, so that older
    /// items come first.
    static func newID() -> Int64 {
        let microseconds = Int64(Date().timeIntervalSince1970 * 1_000_000)
        return microseconds << 12 | Int64.random(in: 0..<4096)
    }

    // MARK: - Rows

    /// The attributes that are copied into columns for indexing.
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
        return Data(bytes.bytes)
    }

    /// Reads an item from its row, or returns `nil` if the authentication code or the encoding is invalid.
    ///
    /// - Parameters:
    ///   - row: The columns of ``selected`` and `value`. If the store encrypts the value, its tag is sufficient.
    ///   - profile: The profile that owns the row.
    ///   - keys: The keys that verify the row's authentication code.
    init?(_ row: borrowing Row, of profile: String, _ keys: StateKeys) {
        guard let id: Int64 = row[0], let record: Data = row[1], let sealing: Int = row[2],
            let mac: Data = row[3], let value: Data = row[4],
            // Check the code first, so that foreign data is not even parsed.
            keys.isValid(
                mac,
                for: StoredRow.code(
                    id,
                    profile,
                    record,
                    sealing,
                    sealing == 1 ? value.suffix(SaltedCipher.tagSize) : value
                ),
                .keychainRows
            ),
            let decoded = KeychainRecord(own: record),
            let contents = StoredContents(sealing: sealing, encoded: value)
        else { return nil }
        self.id = id
        self.profile = profile
        self.record = decoded.normalized
        self.contents = contents
        self.mac = mac
        encodedRecord = record
    }

    /// Creates a row to write.
    init(
        id: Int64,
        profile: String,
        record: KeychainRecord,
        contents: StoredContents,
        _ keys: StateKeys
    ) {
        self.id = id
        self.profile = profile
        self.record = record
        self.contents = contents
        encodedRecord = record.encoded
        let code = StoredRow.code(id, profile, encodedRecord, contents.sealing, contents.covered)
        mac = keys.code(for: code, .keychainRows)
    }

    /// Creates a row to write, encrypting its value unless the TPM has sealed it.
    init(id: Int64, profile: String, _ new: NewKeychainRow, _ keys: StateKeys) throws {
        let contents: StoredContents
        switch new.contents {
        case .plain(let value):
            let seal = ValueCipher(keys: keys)
            contents = .sealed(try seal.seal(value, for: id, of: profile, new.record.encoded))
        case .sealed(let item): contents = StoredContents(item)
        }
        self.init(id: id, profile: profile, record: new.record, contents: contents, keys)
    }

    /// - Throws: `SQLITE_CONSTRAINT` if such an item already exists.
    func insert(_ db: Database, _ keys: StateKeys) throws {
        try db.execute(
            sql: """
                INSERT INTO keychain_items (id, profile, class, agrp, pdmn, name, svce, srvr, acct, labl, klbl, atag,
                    record, sealing, value, mac)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [id] + arguments(keys)
        )
    }

    /// - Throws: The same errors as ``insert(_:_:)``.
    func replace(_ db: Database, _ keys: StateKeys) throws {
        try db.execute(
            sql: """
                UPDATE keychain_items SET profile = ?, class = ?, agrp = ?, pdmn = ?, name = ?, svce = ?, srvr = ?,
                    acct = ?, labl = ?, klbl = ?, atag = ?, record = ?, sealing = ?, value = ?, mac = ?
                WHERE id = ?
                """,
            arguments: arguments(keys) + [id]
        )
    }

    static func delete(_ id: Int64, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM keychain_items WHERE id = ?", arguments: [id])
    }

    private func arguments(_ keys: StateKeys) -> [(any DatabaseValue)?] {
        let name = keys.code(for: record.identity(of: profile), .keychainRows)
        return [profile, record.itemClass.rawValue, record.accessGroup, record.accessible, name]
            + StoredRow.columns.map { record.attributes[$0]?.encoded }
            + [encodedRecord, contents.sealing, contents.encoded, mac]
    }
}
