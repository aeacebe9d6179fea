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
        abstract: "Enrolls the prints that fprintd has kept in the system's service, as root.",
        discussion: """
            A user gets his prints if he has neither a finger nor a passcode in the service yet; the administrator \
            who runs this vouches for them. Prints of readers that are not connected are taken too. A damaged file, or one \
            that lies in another's place, is named and not taken. Nothing in fprintd's folder is changed or deleted. Example:

              sudo whorl import-fprintd --dry-run
              sudo whorl import-fprintd
            """
    )

    @Flag(help: "Only says what would be taken and what would stay.")
    var dryRun = false

    @Flag(
        help:
            "Vouch that only root could open the readers until now; prints inside a reader are taken only then."
    )
    var readersWereClosed = false

    @Option(help: ArgumentHelp("fprintd's folder.", valueName: "dir"))
    var folder = FprintdPrints.folder

    @Option(
        name: .customLong("user"),
        help: ArgumentHelp("Only this user; may be given several times.", valueName: "name")
    )
    var users: [String] = []

    @OptionGroup var global: GlobalOptions

    /// The outcome for one user's prints.
    private struct Outcome {
        let prints: FprintdPrints.OfUser
        /// One for each print; empty where none was taken for a reason of the user's.
        let takings: [TakingOver]
        let refusal: String?
    }

    func answer(_ session: Session) async throws -> Answer {
        try requireRoot("fprintd's prints belong to root.")
        try requireSystemService(
            "The system's service is not installed, and prints of other users can go nowhere else."
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
            return Outcome(prints: prints, takings: [], refusal: "this system has no such user")
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
            let refusal = "has a finger or a passcode in the service already"
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
        if let refusal = outcome.refusal { return ["\(user): nothing is taken: \(refusal)."] }
        let prints = zip(outcome.prints.prints, outcome.takings).map { print, taking in
            let place = "\(user): \(print.finger.spokenName) (\(words(print.driver)))"
            return switch taking {
            case .taken: "\(place): \(dryRun ? "would be enrolled" : "enrolled")."
            case .unreadable: "\(place): stays; the file is no print."
            case .elsewhere: "\(place): stays; it says itself that it is of another finger, user or reader."
            case .pretended: "\(place): stays; it is of a virtual reader."
            case .unvouched:
                "\(place): untrusted, stays; the reader keeps it, and another program may have replaced it. If only root "
                    + "could open the reader until now, add --readers-were-closed; otherwise enroll the finger again."
            }
        }
        let rest = outcome.prints.unreadable
        return prints + (rest > 0 ? ["\(user): \(rest) files stay; they cannot be read."] : [])
    }

    private func words(_ text: String) -> String { DisplayText.clean(text, limit: 60) }
}
