// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlTerminalPrompt
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSupport

/// The command `whorl identify`.
struct Identify: Verb {
    static let asks = Asked.systemService
    static let configuration = CommandConfiguration(
        commandName: "identify",
        abstract: "Identify which user is touching the reader (root only)",
        discussion: """
            Use it for small groups, such as the members at a front desk. The larger the group, the more often a stranger is taken \
            for one of its members; the result says how often. This is not a login and unlocks nothing. Where that matters, ask for \
            a name and use `whorl evaluate`. An administrator enables it in /etc/whorl/whorld.conf ([Identify]). Example:

              sudo whorl identify --among anna,ben,carla --reason "check in"
            """
    )

    @Option(help: ArgumentHelp("User names, separated by commas", valueName: "names"))
    var among: String

    @Option(help: ArgumentHelp("Reason to show in the prompt", valueName: "text"))
    var reason: String

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        try requireRoot("Only root can compare the fingers of several users.")
        try requireSystemService(
            "The system service is not installed."
        )
        let users = try numbers()
        let request = EvaluationRequest(
            policy: .biometrics,
            purpose: .yes,
            reason: reason,
            application: session.services.application,
            fallbackTitle: "",
            timeout: global.patience
        )
        let presenter = session.presenter(handing: nil)
        let person = try await RemoteAccounts().identify(
            among: users.map(\.number),
            request,
            presenter: presenter
        )
        return answer(person, names: users.reduce(into: [:]) { $0[$1.number] = $1.name })
    }

    private func numbers() throws(Failure) -> [(name: String, number: UInt32)] {
        var users: [(name: String, number: UInt32)] = []
        for name in among.split(separator: ",").map(String.init) {
            guard let number = ThisProcess.userNumber(of: name) else {
                throw Failure.usage(
                    "Unknown user \(DisplayText.clean(name, limit: 60)).",
                    hint: "Separate names with commas: --among anna,ben."
                )
            }
            guard !users.contains(where: { $0.number == number }) else { continue }
            users.append((name, number))
        }
        guard !users.isEmpty else {
            throw Failure.usage(
                "No user specified.",
                hint: "Separate names with commas: --among anna,ben."
            )
        }
        return users
    }

    private func answer(_ person: IdentifiedPerson, names: [UInt32: String]) -> Answer {
        let name = names[person.user] ?? String(person.user)
        let leftOut = person.leftOut.map { left -> JSONValue in
            ["user": .string(names[left.user] ?? String(left.user)), "reason": .string(left.reason.rawValue)]
        }
        let chance =
            person.strangerOneIn.map {
                "About one in \($0) touches by strangers is mistaken for one of these users."
            } ?? "The rate at which strangers are mistaken for these users is unknown."
        var text = ["\(name): \(person.finger.spokenName)", chance]
        text += person.leftOut.map { left in
            "\(names[left.user] ?? String(left.user)) was skipped: \(ServiceError(left.reason).message)"
        }
        return Answer(
            result: [
                "user": .string(name), "finger": .string(person.finger.rawValue),
                "strangerOneIn": person.strangerOneIn.map(JSONValue.integer) ?? .null,
                "leftOut": .array(leftOut),
            ],
            text: text
        )
    }
}
