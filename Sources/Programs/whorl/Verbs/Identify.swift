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
        abstract: "Tells which of a few people touches the reader, as root.",
        discussion: """
            It is for small groups, such as the members at a counter: the more people, the more often a stranger is taken for \
            one of them, and the answer says how often. It is no login and opens nothing; ask for a name and \
            `whorl evaluate` where that matters. The administrator allows it in /etc/whorl/whorld.conf ([Identify]). Example:

              sudo whorl identify --among anna,ben,carla --reason "check in"
            """
    )

    @Option(help: ArgumentHelp("The users, with commas between the names.", valueName: "names"))
    var among: String

    @Option(help: ArgumentHelp("Why the finger is asked for; it is shown to the person.", valueName: "text"))
    var reason: String

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        try requireRoot("Only root may compare the fingers of several people.")
        try requireSystemService(
            "The system's service is not installed, and nothing else knows several people."
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
                    "This system has no user \(DisplayText.clean(name, limit: 60)).",
                    hint: "Names stand with commas between them: --among anna,ben."
                )
            }
            guard !users.contains(where: { $0.number == number }) else { continue }
            users.append((name, number))
        }
        guard !users.isEmpty else {
            throw Failure.usage(
                "No user is named.",
                hint: "Names stand with commas between them: --among anna,ben."
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
                "About one in \($0) touches of strangers is taken for one of these people's."
            } ?? "It is not known how often a stranger is taken for one of these people."
        var text = ["\(name): \(person.finger.spokenName)", chance]
        text += person.leftOut.map { left in
            "\(names[left.user] ?? String(left.user)) was not compared: \(ServiceError(left.reason).message)"
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
