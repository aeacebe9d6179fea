// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import TerminalPrompt
import WhorlService
import WhorlSupport

/// The command `whorl devices`.
struct Devices: Verb {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists the fingerprint readers.",
        discussion: """
            The first column is the id that --reader takes. Example:

              whorl devices
              whorl devices --json | jq -r '.result.devices[].id'
            """,
        subcommands: [DevicesCapture.self, DevicesExercise.self]
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        let readers = try await failing { () async throws(AuthenticationError) in
            try await session.services.readers.readers()
        }
        var infos: [ReaderInfo] = []
        for reader in readers { infos.append(await reader.info) }
        infos.forEach { session.console.used($0.kind) }
        return Answer(
            result: ["devices": .array(infos.map(\.json))],
            text: infos.isEmpty ? ["No fingerprint reader is connected."] : Table.lines(infos.map(\.row))
        )
    }
}

extension ReaderInfo {
    fileprivate var json: JSONValue {
        [
            "id": .string(id.rawValue), "driver": .string(driver), "name": .string(name),
            "scanType": .string(scanType.rawValue), "features": .strings(features.names),
            "enrollStages": .integer(enrollStages), "storage": .string(storage.rawValue),
            "strength": .string(strength.name), "readerKind": .string(kind.rawValue),
        ]
    }

    fileprivate var row: [String] {
        let place = storage == .host ? "matches on this computer" : "matches on the reader"
        return [id.rawValue, name, "\(scanType.rawValue), \(enrollStages) stages, \(place)", kindText]
    }

    private var kindText: String {
        switch kind {
        case .hardware: ""
        case .virtual: "virtual"
        case .mock: "mock"
        }
    }
}

/// Columns of text.
enum Table {
    /// Returns the rows with their columns aligned, without empty columns; no text in them acts on a terminal.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map { DisplayText.clean($0, limit: 120) } }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.indices.contains(column) ? TerminalText.width(of: $0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, widths).filter { $1 > 0 }.map { TerminalText.padded($0, to: $1) }
            return String(trimmingEnd(cells.joined(separator: "  ")))
        }
    }

    private static func trimmingEnd(_ line: String) -> Substring {
        var line = Substring(line)
        while line.last == " " { line.removeLast() }
        return line
    }
}
