// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
import WhorlService
import WhorlSupport

/// Authenticates rows of the vault with HMAC-SHA-256 and a key derived from the state key.
///
/// The MAC covers the table's name and every column. It reveals whether a row was edited, or moved to another profile,
/// name or table. It does not reveal whether a whole row was replaced by an older one.
struct RowMAC: Sendable {
    let keys: StateKeys

    init(_ database: StateDatabase) { keys = database.keys }

    func code(_ table: String, _ columns: [Data]) -> Data {
        keys.code(for: RowMAC.covered(table, columns), .vault)
    }

    func isValid(_ code: Data, _ table: String, _ columns: [Data]) -> Bool {
        keys.isValid(code, for: RowMAC.covered(table, columns), .vault)
    }

    private static func covered(_ table: String, _ columns: [Data]) -> Data {
        var bytes = ByteWriter("whorl vault row v1")
        bytes.append(sized: table)
        for column in columns { bytes.append(sized: column) }
        return Data(bytes.bytes)
    }
}

extension Data {
    /// Encodes a number as an 8-byte column for the MAC.
    init(column number: Int64) {
        var bytes = ByteWriter()
        bytes.append(number)
        self = Data(bytes.bytes)
    }

    /// Encodes a time as a column for the MAC, by its bit pattern.
    init(column time: Double) { self.init(column: Int64(bitPattern: time.bitPattern)) }

    /// Encodes a column that may be missing, as no bytes if it is missing, or else as a byte followed by the contents.
    init(column optional: Data?) { self = optional.map { Data([1]) + $0 } ?? Data() }
}
