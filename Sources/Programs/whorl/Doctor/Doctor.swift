// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlTerminalPrompt

/// The command `whorl doctor`.
struct Doctor: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the setup and suggest fixes",
        discussion: """
            Opens the reader briefly, without a touch. It changes nothing, except that it removes what an interrupted \
            enrollment or removal left in the reader. Exits with 0 if everything is fine, otherwise 1. Example:

              whorl doctor
            """
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        let state = await StateDiagnosis(session: session).checks()
        let readers = await ReaderDiagnosis(session: session).checks()
        let tpm = await TPMDiagnosis(session: session).checks()
        let diagnosis = ServiceDiagnosis(session: session)
        let service =
            [await diagnosis.check(), diagnosis.fprintdsPlace()].compactMap(\.self)
            + ConfigurationDiagnosis().checks()
        let checks = service + readers + state + tpm + (await SSHDiagnosis(session: session).checks())
        return Answer(
            result: ["checks": .array(checks.map(\.json))],
            text: checks.flatMap { $0.lines(.onStandardOutput()) },
            status: checks.allSatisfy(\.isOK) ? .success : .failure
        )
    }
}

/// The result of one check.
struct Check: Sendable, Equatable {
    enum Verdict: Sendable {
        case good
        case bad
        /// It works, but with less protection than is possible.
        case warning
        /// Useful information that indicates neither a fault nor success.
        case note
    }

    /// The name shown to the user; in JSON, hyphens replace the spaces.
    let name: String
    let verdict: Verdict
    /// The result as text.
    let detail: String
    /// A step that fixes the problem or provides more information.
    var remedy: String?

    static func good(_ name: String, _ detail: String) -> Check {
        Check(name: name, verdict: .good, detail: detail)
    }

    static func note(_ name: String, _ detail: String, remedy: String? = nil) -> Check {
        Check(name: name, verdict: .note, detail: detail, remedy: remedy)
    }

    static func warning(_ name: String, _ detail: String, remedy: String) -> Check {
        Check(name: name, verdict: .warning, detail: detail, remedy: remedy)
    }

    static func bad(_ name: String, _ detail: String, remedy: String) -> Check {
        Check(name: name, verdict: .bad, detail: detail, remedy: remedy)
    }

    static func bad(_ name: String, _ failure: Failure) -> Check {
        let cause = failure.reason.isEmpty ? "" : " (\(failure.reason))"
        return .bad(name, failure.message + cause, remedy: failure.recovery)
    }

    /// Whether the check found no fault.
    var isOK: Bool {
        switch verdict {
        case .good, .warning, .note: true
        case .bad: false
        }
    }

    var json: JSONValue {
        [
            "name": .string(String(name.map { $0 == " " ? "-" : $0 })), "ok": .bool(isOK),
            "detail": .string(detail),
            "remedy": remedy.map(JSONValue.string),
        ]
    }

    func lines(_ style: TerminalStyle) -> [String] {
        let mark: TerminalStyle.Mark =
            switch verdict {
            case .good: .good
            case .bad: .bad
            case .warning: .warning
            case .note: .neutral
            }
        let text = TerminalText.line("\(name): \(detail)", columns: 2000, ascii: style.ascii)
        let remedy = remedy.map {
            "  " + (style.ascii ? "->" : "→") + " " + TerminalText.line($0, columns: 2000, ascii: style.ascii)
        }
        return [style.sign(mark) + " " + text] + (remedy.map { [$0] } ?? [])
    }
}
