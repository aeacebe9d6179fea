// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Synchronization
import WhorlFingerprint
import WhorlRemote
import WhorlSecretMemory
import WhorlTerminalPrompt
import WhorlService
import WhorlSupport

/// The command `whorl enroll`.
struct Enroll: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Enroll a fingerprint",
        discussion: """
            Touch the reader several times, then once more to confirm. In a terminal, you are guided over the parts of the finger, \
            and three test touches at the end show how well it is recognized; --guided and --no-guided change that. If you have \
            enrolled a finger or set a passcode before, you authenticate first. A finger that is already enrolled is refused under \
            any name. If fprintd also uses the reader and could delete the finger, the command fails unless you add --share-reader.

            An administrator can enroll the first finger of others, who touch the reader (--for, --from): of accounts without a \
            finger, a passcode and items. polkit requires an administrator's password.

            FINGER is one of the following; the ending -finger is optional:

              \(Finger.allNames.prefix(5).joined(separator: ", "))
              \(Finger.allNames.dropFirst(5).joined(separator: ", "))

            Example:

              whorl enroll right-index-finger --label "the good hand"
              whorl enroll right-index-finger --for anna
            """
    )

    @Argument(help: "Finger to enroll", completion: .list(Finger.allNames))
    var finger: String

    @Option(help: ArgumentHelp("A label, up to 100 characters", valueName: "text"))
    var label: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Guide through the parts of the finger, with test touches at the end"
    )
    var guided: Bool?

    @Flag(help: "Enroll even if fprintd also uses the reader and could delete the finger")
    var shareReader = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Enroll the first finger of this user (administrators only)", valueName: "user")
    )
    var user: String?

    @Option(
        help: ArgumentHelp(
            "Enroll the first finger of each user in a file, one name on a line",
            valueName: "file"
        )
    )
    var from: String?

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard user == nil || from == nil else { throw ValidationError("Use either --for or --from.") }
        guard user == nil && from == nil || passcode.descriptor == nil else {
            throw ValidationError("--passcode-fd is for your own fingers; polkit asks for a password.")
        }
    }

    func answer(_ session: Session) async throws -> Answer {
        let finger = try Finger(argument: finger)
        if !shareReader { try await requireOwnReader(session) }
        if let from { return try await enroll(finger, ofUsersIn: from, session) }
        if let user {
            let number = try Self.number(of: user)
            let operation = { EnrollFingerFor(number, newFinger(finger, session), $0) }
            var answer = try await enroll(finger, of: user, session, nil, operation)
            answer.result = answer.result.adding("user", .string(user))
            return answer
        }
        return try await enroll(finger, of: nil, session, try await passcode.preset()) {
            EnrollFinger(newFinger(finger, session), $0)
        }
    }

    func newFinger(_ finger: Finger, _ session: Session) -> NewFinger {
        NewFinger(finger, label: label, isGuided: guided ?? session.console.isForPerson)
    }

    /// Enrolls a finger, and shows whose it is.
    func enroll<Asked: OwnerOperation>(
        _ finger: Finger,
        of user: String?,
        _ session: Session,
        _ preset: SecretBox?,
        _ operation: (ConsentRequest) -> Asked
    ) async throws -> Answer where Asked.Reply == EnrolledFinger {
        let tests = Mutex(TestTouches())
        let stages = Mutex(0)
        let name = translated(finger.spokenName)
        let title =
            user.map { translated("Enroll the %1$@ of %2$@", with: name, DisplayText.clean($0, limit: 60)) }
            ?? translated("Enroll the %1$@", with: name)
        let activity = Activity(title, console: session.console)
        let enrolled = try await activity.run(
            success: { _ in
                let sentences = [translated("Enrolled."), tests.withLock(\.sentence)]
                return .finished(sentences.compactMap(\.self).joined(separator: " "))
            },
            failure: "Not enrolled."
        ) {
            try await PasswordAgent.beside(session) {
                try await session.ask(
                    handing: preset,
                    observer: { progress in
                        tests.withLock { $0.take(progress) }
                        // Some drivers know the number of stages only after they were opened.
                        if case .scan(.stage(_, let total)) = progress { stages.withLock { $0 = total } }
                        show(progress, activity)
                    },
                    operation
                )
            }
        }
        let tested = guided ?? session.console.isForPerson ? tests.withLock(\.self) : nil
        return Answer(
            result: [
                "finger": .string(enrolled.finger.rawValue), "id": .string(enrolled.id.description),
                "stages": .integer(stages.withLock(\.self)),
                "recognized": tested.map { .integer($0.recognized) },
                "tested": tested.map { .integer($0.tested) },
            ],
            text: ["\(enrolled.finger.rawValue) \(enrolled.id)"]
        )
    }

    /// Throws if fprintd's own daemon could delete the finger.
    private func requireOwnReader(_ session: Session) async throws {
        let place = FprintdPlace()
        guard session.place == .system, place == .fprintd else { return }
        let reader = await (try session.services.readers.chosenReader()).info
        if let refusal = Self.refusal(of: reader, with: place) { throw refusal }
    }

    /// Returns the failure if fprintd's own daemon could delete the finger; otherwise `nil`.
    ///
    /// The failure is the same on a terminal and in JSON; the user is not asked whether to continue.
    static func refusal(of reader: ReaderInfo, with place: FprintdPlace) -> Failure? {
        guard place.endangersPrints(in: reader) else { return nil }
        return Failure(
            code: "sharedReader",
            status: .usage,
            message: "fprintd also uses \(reader.name) and could delete the finger.",
            recovery:
                "Let Whorl replace fprintd (sudo apt install whorld-fprintd), or add --share-reader."
        )
    }

    private func show(_ progress: EnrollmentProgress, _ activity: Activity) {
        switch progress {
        case .began(let reader): activity.begin(at: reader)
        case .scan(let event): activity.scan(event)
        case .confirming(let left):
            activity.part(
                left > 1 ? "Touch once more to confirm." : "Touch once more to confirm. Last attempt."
            )
        case .area(let area): activity.area(area)
        case .again:
            activity.part(
                "Too many touches with the same part of the finger. Starting over with all parts."
            )
        case .tested(let recognized, let tested, let total): activity.tested(recognized, tested, total)
        case .exercising: break
        }
    }
}

/// The results of the test touches in a guided enrollment.
struct TestTouches: Sendable {
    private(set) var recognized = 0
    private(set) var tested = 0

    mutating func take(_ progress: EnrollmentProgress) {
        if case .tested(let recognized, let tested, total: _) = progress {
            (self.recognized, self.tested) = (recognized, tested)
        }
    }

    /// Returns the sentence with the number of recognized test touches.
    static func count(_ recognized: Int, of tested: Int) -> String {
        translated("%1$@ of %2$@ test touches recognized.", with: String(recognized), String(tested))
    }

    /// The sentence that is shown to the user; `nil` if there were no test touches.
    var sentence: String? {
        guard tested > 0 else { return nil }
        let count = Self.count(recognized, of: tested)
        return recognized == tested
            ? count : count + " " + translated("Try removing the finger and enrolling it again.")
    }
}
