// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlIPC
import WhorlService

/// The interface to the keychain's rows (``KeychainRowService``) in the access groups that the program names.
///
/// All values of a message are sent along with it in one memory file; the message contains their ranges.
enum KeychainInterface {
    /// Finds rows, and sends them in updates of a few rows each; the final reply does not contain any.
    struct Find: ServiceOperation {
        typealias Reply = Valued<[WireRow]>
        static let name = "io.whorl.Keychain.Find"
        static let rules = OperationRules(.repeatable, by: .anyProgram)

        let groups: [String]
        let match: KeychainMatch
        let withValues: Bool
        let limit: Int
    }

    struct Add: ServiceOperation {
        typealias Reply = Outcome
        static let name = "io.whorl.Keychain.Add"
        static let rules = OperationRules(
            change: "add keychain items",
            "rowsAdded",
            by: .anyProgram,
            attaching: .values(8)
        )

        let groups: [String]
        let new: [WireRow]
        let replacing: [KeychainRowVersion]
    }

    struct Update: ServiceOperation {
        typealias Reply = Outcome
        static let name = "io.whorl.Keychain.Update"
        static let rules = OperationRules(
            change: "change keychain items",
            "rowsChanged",
            by: .anyProgram,
            attaching: .values(8)
        )

        let groups: [String]
        /// The changes: the version of each row, with its new record and value.
        let changes: [WireRow]
        let replacing: [KeychainRowVersion]
    }

    struct Delete: ServiceOperation {
        typealias Reply = Valued<Int>
        static let name = "io.whorl.Keychain.Delete"
        static let rules = OperationRules(change: "delete keychain items", "rowsDeleted", by: .anyProgram)

        let groups: [String]
        let matches: [KeychainMatch]
    }

    /// The result of a change: `stored`, `taken`, `stale`, `noPasscode` or `groupRefused`.
    ///
    /// The first two include the rows.
    struct Outcome: Codable, Sendable {
        let outcome: String
        let rows: [WireRow]
    }
}

/// A row, as it is sent in a message.
struct WireRow: Codable, Sendable {
    /// The type of the value.
    enum Kind: String, Codable, Sendable {
        case encrypted, value, damaged, sealed
    }

    /// The row's version; `nil` for a new one.
    let version: KeychainRowVersion?
    let record: KeychainRecord
    let kind: Kind
    /// The beginning of the value, or of the sealed item's bytes, in the memory file that is sent with the message.
    let start: Int?
    let count: Int?
    /// The sealed item without its bytes.
    let item: SealedItem?
}

/// Packs rows into messages, and the values of each message into a memory file.
struct RowPacker {
    /// The maximum total size of the values sent with one message, in bytes.
    ///
    /// This is enough for the largest value that a keychain accepts (16 MiB) and the other values of the same message.
    static let mostBytes = 17 << 20

    private(set) var rows: [WireRow] = []
    private var bytes = Data()

    /// The total size of the values, in bytes.
    var count: Int { bytes.count }

    /// The maximum number of rows per message.
    static let mostRows = 32
    /// The total size of the values, in bytes, from which a message is full.
    static let fullBytes = 512 << 10

    mutating func add(_ row: KeychainRow) {
        switch row.contents {
        case .encrypted: add(row.version, row.record, .encrypted)
        case .damaged: add(row.version, row.record, .damaged)
        case .value(let value): add(row.version, row.record, .value, value)
        case .sealed(let item): add(row.version, row.record, .sealed, item.encoded, item)
        }
    }

    mutating func add(_ new: NewKeychainRow, to version: KeychainRowVersion? = nil) {
        switch new.contents {
        case .plain(let value): add(version, new.record, .value, value)
        case .sealed(let item): add(version, new.record, .sealed, item.encoded, item)
        }
    }

    private mutating func add(
        _ version: KeychainRowVersion?,
        _ record: KeychainRecord,
        _ kind: WireRow.Kind,
        _ value: Data? = nil,
        _ item: SealedItem? = nil
    ) {
        rows.append(
            WireRow(
                version: version,
                record: record,
                kind: kind,
                start: value.map { _ in bytes.count },
                count: value?.count,
                item: item?.bare
            )
        )
        if let value { bytes += value }
    }

    /// Returns the memory file with the values; empty if there are no values.
    func files() throws(ServiceError) -> [Descriptor] {
        guard bytes.count <= RowPacker.mostBytes else { throw ServiceError(.malformed) }
        guard !bytes.isEmpty else { return [] }
        do { return [try SecretDescriptor.make([UInt8](bytes))] } catch {
            throw ServiceError(ServiceCallError(encoding: error))
        }
    }
}

extension WireRow {
    /// Returns the bytes of the value; `nil` if they are outside the memory file.
    private func bytes(in file: Data) -> Data? {
        guard let start, let count, start >= 0, count >= 0, start <= file.count, count <= file.count - start
        else { return nil }
        return file.dropFirst(start).prefix(count)
    }

    /// Returns the row that was found; `nil` if it is invalid.
    func found(_ file: Data) -> KeychainRow? {
        guard let version else { return nil }
        switch kind {
        case .encrypted: return KeychainRow(version, record, .encrypted)
        case .damaged: return KeychainRow(version, record, .damaged)
        case .value: return bytes(in: file).map { KeychainRow(version, record, .value(Data($0))) }
        case .sealed:
            guard let bytes = bytes(in: file), let item else { return nil }
            return KeychainRow(version, record, .sealed(item.with(Data(bytes))))
        }
    }

    /// Returns the row to store; `nil` if it is invalid.
    func new(_ file: Data) -> NewKeychainRow? {
        guard let bytes = bytes(in: file) else { return nil }
        switch kind {
        case .value: return NewKeychainRow(record, .plain(Data(bytes)))
        case .sealed: return item.map { NewKeychainRow(record, .sealed($0.with(Data(bytes)))) }
        case .encrypted, .damaged: return nil
        }
    }
}
