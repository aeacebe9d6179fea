// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
import WhorlTPM
import WhorlSupport

/// The database row that identifies a profile's counter in the TPM.
///
/// Before a counter is created in the TPM, its index is stored (`planned`) so that an interrupted run does not leave an
/// unknown counter behind.
struct CounterRow: Sendable {
    let profile: String
    let place: Place
    /// The number to add to the counter's value to get the generation.
    let shift: Int64

    enum Place: Sendable, Hashable {
        /// The counter is about to be created at this index, or has been created but not pinned yet.
        case planned(UInt32)
        /// The counter exists in the TPM, and its name is known.
        case pinned(NVCounter)

        fileprivate var encoded: Data {
            var bytes = ByteWriter()
            switch self {
            case .planned(let index):
                bytes.append(UInt8(0))
                bytes.append(index)
            case .pinned(let counter):
                bytes.append(UInt8(1))
                bytes.append(raw: counter.serialized)
            }
            return Data(bytes.bytes)
        }

        fileprivate init?(encoded: Data) {
            var bytes = ByteReader(encoded)
            switch bytes.number(UInt8.self) {
            case 0:
                guard let index = bytes.number(UInt32.self), bytes.isAtEnd else { return nil }
                self = .planned(index)
            case 1:
                guard encoded.count <= 1024, let rest = bytes.take(encoded.count - 1),
                    let counter = try? NVCounter(serialized: [UInt8](rest))
                else { return nil }
                self = .pinned(counter)
            default: return nil
            }
        }

        /// The counter's index in the TPM.
        var index: UInt32 {
            switch self {
            case .planned(let index): index
            case .pinned(let counter): counter.index
            }
        }
    }

    /// Returns the generation for a value of the counter, or `nil` if the sum is out of range.
    func generation(at value: UInt64) -> UInt64? {
        let (sum, overflow) = value.addingReportingOverflow(UInt64(bitPattern: shift))
        // A negative shift is an addition that wraps around; a positive one must not wrap.
        return (shift < 0) == overflow || shift == 0 ? sum : nil
    }

    /// Returns the counter's value for a generation, which is the inverse of ``generation(at:)``.
    func value(at generation: UInt64) -> UInt64 { generation &- UInt64(bitPattern: shift) }

    /// The difference between a generation and a counter's value.
    struct Shift: Sendable {
        let amount: Int64

        static func shift(from value: UInt64, to generation: UInt64) -> Shift {
            Shift(amount: Int64(bitPattern: generation &- value))
        }
    }

    private static let table = "vault_counters"

    func save(_ db: Database, _ seal: RowMAC) throws {
        let columns = [Data(profile.utf8), place.encoded, Data(column: shift)]
        try db.execute(
            sql: "INSERT OR REPLACE INTO vault_counters VALUES (?, ?, ?, ?)",
            arguments: [profile, place.encoded, shift, seal.code(CounterRow.table, columns)]
        )
    }

    /// Reads a profile's row, or returns `nil` if the profile has none.
    ///
    /// - Throws: `SQLITE_CORRUPT` if Whorl did not write the row.
    static func read(_ profile: String, _ db: Database, _ seal: RowMAC) throws -> CounterRow? {
        try db.first(sql: "SELECT * FROM vault_counters WHERE profile = ?", arguments: [profile]) {
            try CounterRow(checking: $0, seal)
        }
    }

    /// Reads the rows of all profiles.
    static func all(_ db: Database, _ seal: RowMAC) throws -> [CounterRow] {
        try db.all(sql: "SELECT * FROM vault_counters") { try CounterRow(checking: $0, seal) }
    }
}

extension CounterRow {
    private init(checking row: borrowing Row, _ seal: RowMAC) throws {
        guard let profile: String = row["profile"], let counter: Data = row["counter"],
            let shift: Int64 = row["shift"], let mac: Data = row["mac"],
            seal.isValid(mac, CounterRow.table, [Data(profile.utf8), counter, Data(column: shift)]),
            let place = Place(encoded: counter)
        else {
            throw DatabaseError.corrupt("a row of vault_counters was changed")
        }
        self.init(profile: profile, place: place, shift: shift)
    }
}
