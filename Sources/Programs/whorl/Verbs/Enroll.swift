// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Authentication
import Enrollment
import Fingerprint
import StateStore
import TerminalPrompt
import WhorlSystem

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
        let reader = try await session.reader()
        let enroller = try await session.enroller()
        let profile = session.services.profile
        try await failing { () async throws(EnrollmentError) in
            try await enroller.refuseTaken(finger, profile: profile, on: reader)
        }
        let consent = try await session.consent(to: .add(finger), passcode)
        let enrolled = try await Activity.run(
            "Enroll the \(finger.spokenName)",
            at: await reader.info,
            console: session.console,
            success: { _ in .finished("Enrolled.") },
            failure: "Not enrolled."
        ) { (activity) async throws(Failure) in
            try await failing { () async throws(EnrollmentError) in
                try await enroller.enroll(
                    finger,
                    label: label,
                    profile: profile,
                    on: reader,
                    consent: consent,
                    timeout: global.patience,
                    observer: { show($0, activity) }
                )
            }
        }
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
        case .scan(let event): activity.scan(event)
        case .confirming(let left):
            activity.part(
                left > 1 ? "Touch once more to check." : "Touch once more to check; this is the last try."
            )
        }
    }
}
