// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation

/// The output options of a command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON")
    var json = false

    /// Writes lines of columns, or one JSON document.
    ///
    /// - Parameters:
    ///   - name: The name of the list in JSON.
    ///   - rows: The rows of the list.
    ///   - columns: Returns the columns of a row, in order.
    /// - Throws: The encoder's error.
    func write<Row: Encodable>(_ name: String, _ rows: [Row], columns: (Row) -> [String]) throws {
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
            FileHandle.standardOutput.write(try encoder.encode([name: rows]) + Data("\n".utf8))
        } else {
            let lines = rows.map { columns($0).joined(separator: "\t") + "\n" }
            FileHandle.standardOutput.write(Data(lines.joined().utf8))
        }
    }

    /// Returns a time in RFC 3339 format.
    static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}
