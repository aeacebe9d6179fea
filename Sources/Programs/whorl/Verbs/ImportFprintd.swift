// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSupport

/// The command `whorl import-fprintd`.
struct ImportFprintd: Verb {
    static let asks = Asked.systemService
    static let configuration = CommandConfiguration(
        commandName: "import-fprintd",
        abstract: "Import prints from fprintd (root only)",
        discussion: """
            Imports a user's prints if that user has no finger and no passcode in the service yet; as the administrator, you vouch \
            for them. Prints for readers that are not connected are imported as well. A damaged or misplaced file is reported and \
            skipped. fprintd's files are not changed. Example:

              sudo whorl import-fprintd --dry-run
              sudo whorl import-fprintd
            """
    )

    @Flag(help: "Show what would be imported, without importing it")
    var dryRun = false

    @Flag(
        help:
            "Confirm that only root could open the readers so far; required to import prints stored in a reader"
    )
    var readersWereClosed = false

    @Option(help: ArgumentHelp("fprintd's data directory", valueName: "dir"))
    var folder = FprintdPrints.folder

    @Option(
        name: .customLong("user"),
        help: ArgumentHelp("Import only this user's prints; may be repeated", valueName: "name")
    )
    var users: [String] = []

    @OptionGroup var global: GlobalOptions

    /// The result for one user's prints.
    private struct Outcome {
        let prints: FprintdPrints.OfUser
        /// One outcome for each print; empty if nothing was imported for a reason that concerns the user.
        let takings: [ImportOutcome]
        let refusal: String?
    }

    func answer(_ session: Session) async throws -> Answer {
        try requireRoot("Only root can read fprintd's prints.")
        try requireSystemService(
            "The system service is not installed."
        )
        let found = FprintdPrints(folder).all().filter { users.isEmpty || users.contains($0.user) }
        var outcomes: [Outcome] = []
        for prints in found { outcomes.append(try await outcome(of: prints)) }
        return Answer(
            result: ["users": .array(outcomes.map(json)), "dryRun": .bool(dryRun)],
            text: found.isEmpty ? ["\(folder) has no prints."] : outcomes.flatMap(lines)
        )
    }

    private func outcome(of prints: FprintdPrints.OfUser) async throws -> Outcome {
        guard let user = ThisProcess.userNumber(of: prints.user) else {
            return Outcome(prints: prints, takings: [], refusal: "unknown user")
        }
        do throws(ServiceError) {
            let takings = try await RemoteAccounts().takeOver(
                prints.prints,
                for: user,
                isTrial: dryRun,
                readersWereClosed: readersWereClosed
            )
            return Outcome(prints: prints, takings: takings, refusal: nil)
        } catch {
            guard error.code == .ownerNeeded else { throw error }
            let refusal = "already has a finger or a passcode in the service"
            return Outcome(prints: prints, takings: [], refusal: refusal)
        }
    }

    private func json(_ outcome: Outcome) -> JSONValue {
        let prints = zip(outcome.prints.prints, outcome.takings).map { print, taking -> JSONValue in
            [
                "finger": .string(print.finger.rawValue), "driver": .string(words(print.driver)),
                "number": .string(words(print.number)), "outcome": .string(taking.rawValue),
            ]
        }
        return [
            "user": .string(words(outcome.prints.user)), "prints": .array(prints),
            "unreadable": .integer(outcome.prints.unreadable),
            "refusal": outcome.refusal.map(JSONValue.string),
        ]
    }

    private func lines(_ outcome: Outcome) -> [String] {
        let user = words(outcome.prints.user)
        if let refusal = outcome.refusal { return ["\(user): skipped: \(refusal)."] }
        let prints = zip(outcome.prints.prints, outcome.takings).map { print, taking in
            let place = "\(user): \(print.finger.spokenName) (\(words(print.driver)))"
            return switch taking {
            case .taken: "\(place): \(dryRun ? "would be enrolled" : "enrolled")."
            case .unreadable: "\(place): skipped; not a print."
            case .elsewhere: "\(place): skipped; the print belongs to another finger, user or reader."
            case .pretended: "\(place): skipped; the print is from a virtual reader."
            case .unvouched:
                "\(place): skipped; the print is stored in the reader, and another program may have replaced it. If only root "
                    + "could open the reader so far, add --readers-were-closed; otherwise enroll the finger again."
            }
        }
        let rest = outcome.prints.unreadable
        return prints + (rest > 0 ? ["\(user): \(rest) files skipped; they cannot be read."] : [])
    }

    private func words(_ text: String) -> String { DisplayText.clean(text, limit: 60) }
}
