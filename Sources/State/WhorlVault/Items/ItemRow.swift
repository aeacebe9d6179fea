// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
import WhorlSecretMemory
import WhorlStateStore
import WhorlTPM
import WhorlService
import WhorlSupport

/// An item's row in the database, after checking that Whorl wrote it.
struct ItemRow: UsableItem {
    let id: ItemID
    /// 16 random bytes that are new for each item and to which the item's data are bound.
    let unique: Data
    let access: AccessControl
    var binding: ItemBinding
    var object: TPMObject
    /// The ciphertext of a large secret, the rules of an SSH key, or `nil` for any other item.
    var body: Data?
    let createdAt: Date

    private static let table = "vault_items"

    var owner: ItemOwner { id.owner }

    static func newUnique() -> Data { SecretBytes(randomCount: 16).withUnsafeBytes { Data($0) } }

    /// The data that a large secret's ciphertext is bound to.
    var identity: Data { ItemRow.identity(id, unique: unique, access: access) }

    static func identity(_ id: ItemID, unique: Data, access: AccessControl) -> Data {
        var bytes = ByteWriter("whorl item v1")
        bytes.append(sized: id.profile)
        bytes.append(sized: id.kind.rawValue)
        bytes.append(sized: id.name.text)
        bytes.append(raw: unique)
        bytes.append(sized: access.encoded)
        return Data(bytes.bytes)
    }

    /// The columns that the MAC covers.
    ///
    /// A ciphertext is covered by its own tag, which the MAC covers in turn.
    private var columns: [Data] {
        ItemRow.columns(
            id,
            [
                unique, access.encoded, binding.encoded, Data(object.serialized),
                ItemRow.covered(body, of: id.kind),
            ],
            createdAt.timeIntervalSince1970
        )
    }

    private static func covered(_ body: Data?, of kind: ItemKind) -> Data {
        Data(column: kind == .sshKey ? body : body?.suffix(16))
    }

    private static func columns(_ id: ItemID, _ blobs: [Data], _ createdAt: Double) -> [Data] {
        [Data(id.profile.utf8), Data(id.kind.rawValue.utf8), Data(id.name.text.utf8)] + blobs
            + [Data(column: createdAt)]
    }

    /// Stores a new item.
    ///
    /// - Returns: `false` if an item with this profile, kind and name already exists.
    func insert(_ db: Database, _ seal: RowMAC) throws -> Bool {
        guard try !ItemRow.exists(id, db) else { return false }
        try StorageQuota.standard.check(adding: body?.count ?? 0, db)
        try db.execute(
            sql: "INSERT INTO vault_items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                id.profile, id.kind.rawValue, id.name.text, unique, access.encoded, binding.encoded,
                Data(object.serialized), body, createdAt.timeIntervalSince1970,
                seal.code(ItemRow.table, columns),
            ]
        )
        return true
    }

    /// Replaces the row from which this one was created, or returns `false` if that row no longer exists.
    func replace(_ old: ItemRow, _ db: Database, _ seal: RowMAC) throws -> Bool {
        try db.execute(
            sql:
                "DELETE FROM vault_items WHERE profile = ? AND kind = ? AND name = ? AND id = ? AND object = ?",
            arguments: [
                old.id.profile, old.id.kind.rawValue, old.id.name.text, old.unique,
                Data(old.object.serialized),
            ]
        )
        guard db.changesCount == 1 else { return false }
        return try insert(db, seal)
    }

    static func exists(_ id: ItemID, _ db: Database) throws -> Bool {
        try db.value(
            sql: "SELECT EXISTS (SELECT 1 FROM vault_items WHERE profile = ? AND kind = ? AND name = ?)",
            arguments: [id.profile, id.kind.rawValue, id.name.text]
        ) ?? false
    }

    /// Removes an item regardless of its row's contents, or returns `false` if the item does not exist.
    static func delete(_ id: ItemID, _ db: Database) throws -> Bool {
        try db.execute(
            sql: "DELETE FROM vault_items WHERE profile = ? AND kind = ? AND name = ?",
            arguments: [id.profile, id.kind.rawValue, id.name.text]
        )
        return db.changesCount > 0
    }
}

extension ItemRow {
    /// The result of reading a row.
    enum Reading: Sendable {
        case sound(ItemRow)
        /// The item's row exists but was not written by Whorl.
        case tampered(ItemID)

        var id: ItemID {
            switch self {
            case .sound(let row): row.id
            case .tampered(let id): id
            }
        }
    }

    /// Reads an item, or returns `nil` if it does not exist.
    static func read(_ id: ItemID, _ db: Database, _ seal: RowMAC) throws -> Reading? {
        try db.first(
            sql: "SELECT * FROM vault_items WHERE profile = ? AND kind = ? AND name = ?",
            arguments: [id.profile, id.kind.rawValue, id.name.text]
        ) { ItemRow(checking: $0, id, seal).map(Reading.sound) ?? .tampered(id) }
    }

    /// Reads all of a profile's items in order of kind and name, except rows in which the name itself is damaged.
    static func all(of profile: String, _ db: Database, _ seal: RowMAC) throws -> [Reading] {
        let sql = "SELECT * FROM vault_items WHERE profile = ? ORDER BY kind, name"
        return try db.all(sql: sql, arguments: [profile]) { row -> Reading? in
            guard let kind = (row["kind"] as String?).flatMap(ItemKind.init(rawValue:)),
                let text: String = row["name"], let name = try? ItemName(text)
            else { return nil }
            let id = ItemID(kind, name, of: profile)
            return ItemRow(checking: row, id, seal).map(Reading.sound) ?? .tampered(id)
        }.compactMap(\.self)
    }

    private init?(checking row: borrowing Row, _ id: ItemID, _ seal: RowMAC) {
        guard let unique: Data = row["id"], let access: Data = row["access"],
            let binding: Data = row["binding"],
            let object: Data = row["object"], let createdAt: Double = row["created_at"],
            let mac: Data = row["mac"]
        else { return nil }
        let body: Data? = row["body"]
        // Check the MAC first, so that a row that Whorl did not write is not even parsed.
        let covered = ItemRow.columns(
            id,
            [unique, access, binding, object, ItemRow.covered(body, of: id.kind)],
            createdAt
        )
        guard seal.isValid(mac, ItemRow.table, covered), let access = AccessControl(encoded: access),
            let binding = ItemBinding(encoded: binding),
            let object = try? TPMObject(serialized: [UInt8](object))
        else { return nil }
        self.init(
            id: id,
            unique: unique,
            access: access,
            binding: binding,
            object: object,
            body: body,
            createdAt: Date(timeIntervalSince1970: createdAt)
        )
    }
}
