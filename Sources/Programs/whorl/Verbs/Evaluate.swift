// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import WhorlTerminalPrompt
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The command `whorl can-evaluate`.
struct CanEvaluate: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "can-evaluate",
        abstract: "Says whether an evaluation could succeed now; never prompts.",
        discussion: """
            The status says why not: 15 no reader, 16 no finger enrolled, 17 locked. Example:

              whorl can-evaluate && whorl evaluate --reason "unlock the vault"
            """
    )

    @Option(help: "What must be shown: a finger, or the owner's finger or passcode.")
    var policy = Policy.biometrics

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        let services = session.services
        let preflight = await services.preflight(policy, for: services.application)
        session.console.used(preflight.readerKind)
        if let obstacle = preflight.obstacle { throw obstacle }
        return Answer(
            result: [
                "canEvaluate": true,
                "biometryType": preflight.hasReader ? "touchID" : "none",
                "domainState": preflight.domainState.map { .string($0.base64EncodedString()) } ?? .null,
            ],
            text: ["yes"]
        )
    }
}

/// The command `whorl evaluate`.
struct Evaluate: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Asks for a finger; the status is 0 only when an enrolled one was there.",
        discussion: """
            The prompt is on the terminal, its keys are Escape for cancel and Tab for the fallback. With --json \
            it is events, for the program that reads them to show. Example:

              whorl evaluate --reason "sign the release" && git tag -s v1.0
            """
    )

    @Option(help: ArgumentHelp("Why the finger is asked for; it is shown to the person.", valueName: "text"))
    var reason: String

    @Option(help: "What must be shown: a finger, or the owner's finger or passcode.")
    var policy = Policy.biometrics

    @Option(help: ArgumentHelp("The fallback key's text; empty hides the key.", valueName: "text"))
    var fallbackTitle: String?

    @Option(help: ArgumentHelp("The cancel key's text.", valueName: "text"))
    var cancelTitle: String?

    @Option(
        help: ArgumentHelp("Takes a match that is no older than this, at most 300.", valueName: "seconds")
    )
    var allowReuse: Double = 0

    @Flag(help: "Never prompts: only a reusable match can succeed.")
    var noInteraction = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard allowReuse.isFinite, allowReuse >= 0 else {
            throw ValidationError("--allow-reuse must be 0 or more seconds.")
        }
    }

    func answer(_ session: Session) async throws -> Answer {
        guard !DisplayText.isBlank(reason) else {
            throw ServiceError(.reasonMissing)
        }
        let console = session.console
        let presenter = session.presenter(handing: try await passcode.preset())
        let evaluation = try await session.services.evaluate(
            request(of: session.services.application),
            presenter: presenter
        )
        console.succeeded(evaluation)
        return answer(evaluation)
    }

    private func request(of application: ApplicationID) -> EvaluationRequest {
        EvaluationRequest(
            policy: policy,
            purpose: .yes,
            reason: reason,
            application: application,
            cancelTitle: cancelTitle,
            fallbackTitle: fallbackTitle,
            // More than 300 s counts as 300 s.
            reuse: .milliseconds(Int64(min(allowReuse, 300) * 1000)),
            interactionAllowed: !noInteraction,
            timeout: global.patience
        )
    }

    private func answer(_ evaluation: Evaluation) -> Answer {
        let finger = evaluation.finger
        let when = evaluation.isReused ? "matched a moment ago" : "matched"
        return Answer(
            result: [
                "success": true,
                "method": .string(evaluation.method.rawValue),
                "finger": finger.map { .string($0.rawValue) } ?? .null,
                "domainState": evaluation.domainState.map { .string($0.base64EncodedString()) } ?? .null,
                "touchStrength": .string(evaluation.strength.text),
                "failedTries": .integer(evaluation.failedTries),
            ],
            text: [finger.map { "\(when): \($0.rawValue)" } ?? "the passcode was right"]
        )
    }
}
