// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import FoundationEssentials
import WhorlService
import WhorlSupport

/// The command `whorl log`.
struct Log: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show recent authentication requests",
        discussion: """
            Prints the newest entries for your profile, oldest first: who requested what, and the result. Anyone who can write the \
            state directory can change the log. Example:

              whorl log --limit 5
            """
    )

    @Option(help: ArgumentHelp("Number of entries", valueName: "n"))
    var limit = 20

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
    }

    func answer(_ session: Session) async throws -> Answer {
        let entries = try await entries(session.services).reversed()
        return Answer(
            result: ["entries": .array(entries.map(\.json))],
            text: entries.isEmpty ? ["The log is empty."] : Table.lines(entries.map(\.row))
        )
    }

    /// Reads as many entries as wanted, newest first; a service returns only some with each call.
    private func entries(_ services: Services) async throws(ServiceError) -> [AuditEntry] {
        var all: [AuditEntry] = []
        while all.count < limit {
            let page = try await services.ask(ReadLog(limit: limit - all.count, before: all.last?.id))
            // A service that does not know the second member begins again.
            let older = page.filter { entry in all.last.map { entry.id < $0.id } ?? true }
            guard !older.isEmpty else { break }
            all += older
        }
        return all
    }
}

extension AuditEntry {
    fileprivate var json: JSONValue {
        [
            "id": .integer(Int(id)), "at": .string(at.ISO8601Format()), "application": .string(application),
            "event": .string(event.rawValue), "outcome": .string(outcome),
            "finger": finger.map { .string($0.rawValue) }, "reader": reader.map { .string($0.rawValue) },
            "detail": detail.map(JSONValue.string), "asker": asker.map(\.json), "repeats": .integer(repeats),
        ]
    }

    fileprivate var row: [String] {
        [
            LocalTime.second(at), name, event.rawValue, outcome, finger?.rawValue ?? "",
            [repeats > 1 ? "\(repeats) times" : nil, detail.map { DisplayText.quoted($0) }].compactMap(\.self)
                .joined(separator: ": "),
        ]
    }

    /// The name that the system assigns to the program; otherwise the name that it claims, in quotation marks.
    private var name: String { asker?.confinedAs ?? DisplayText.quoted(application, limit: 60) }
}

extension Asker {
    fileprivate var json: JSONValue {
        [
            "user": .integer(Int(user)), "confinedAs": confinedAs.map(JSONValue.string),
            "process": process.map(JSONValue.string), "processID": processID.map { .integer(Int($0)) },
            "unit": unit.map(JSONValue.string), "session": session.map(JSONValue.string),
        ]
    }
}
