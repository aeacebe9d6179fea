// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import TerminalPrompt
import WhorlService

/// The command `whorl enroll`.
struct Enroll: Verb {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Enrolls a finger.",
        discussion: """
            The reader asks for the finger several times, then once more to check. A finger that is enrolled \
            already is refused, whatever it is called. Where a finger is enrolled or a passcode is set, the owner \
            agrees first, by touching the reader with an enrolled finger or by the passcode. FINGER is one of

              \(Finger.allNames.prefix(5).joined(separator: ", "))
              \(Finger.allNames.dropFirst(5).joined(separator: ", "))

            or the same without -finger. Example:

              whorl enroll right-index-finger --label "the good hand"
            """
    )

    @Argument(help: "The finger's name.", completion: .list(Finger.allNames))
    var finger: String

    @Option(help: ArgumentHelp("Words of your own for it, at most 100 characters.", valueName: "text"))
    var label: String?

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        let finger = try Finger(argument: finger)
        let preset = try await passcode.preset()
        let activity = Activity("Enroll the \(finger.spokenName)", console: session.console)
        let enrolled = try await activity.run(
            success: { _ in .finished("Enrolled.") },
            failure: "Not enrolled."
        ) { () async throws(Failure) in
            try await PasswordAgent.beside(session) { () async throws(Failure) in
                try await failing { () async throws(FingerChangeError) in
                    try await session.services.fingers.enroll(
                        NewFinger(finger, label: label),
                        session.consentRequest(handing: preset),
                        presenter: session.presenter(handing: preset),
                        observer: { show($0, activity) }
                    )
                }
            }
        }
        let reader = try await session.chosenReader()
        // Some drivers know their stages only after they were open.
        let stages = await reader.info.enrollStages
        return Answer(
            result: [
                "finger": .string(enrolled.finger.rawValue), "id": .string(enrolled.id.description),
                "stages": .integer(stages),
            ],
            text: ["\(enrolled.finger.rawValue) \(enrolled.id)"]
        )
    }

    private func show(_ progress: EnrollmentProgress, _ activity: Activity) {
        switch progress {
        case .began(let reader): activity.begin(at: reader)
        case .scan(let event): activity.scan(event)
        case .confirming(let left):
            activity.part(
                left > 1 ? "Touch once more to check." : "Touch once more to check; this is the last try."
            )
        }
    }
}
