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
        abstract: "Check whether authentication is possible, without prompting",
        discussion: """
            Exits with 0 if you could authenticate now, 15 if no reader was found, 16 if no finger is enrolled, or 17 if fingers are \
            locked out. Example:

              whorl can-evaluate && whorl evaluate --reason "unlock the vault"
            """
    )

    @Option(help: "Accept a fingerprint only, or also the passcode")
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
        abstract: "Authenticate with a fingerprint (exit status 0 on a match)",
        discussion: """
            Shows the prompt in the terminal; Esc cancels, Tab selects the fallback. With --json, the prompt is printed as events \
            for another program to show. Example:

              whorl evaluate --reason "sign the release" && git tag -s v1.0
            """
    )

    @Option(help: ArgumentHelp("Reason to show in the prompt", valueName: "text"))
    var reason: String

    @Option(help: "Accept a fingerprint only, or also the passcode")
    var policy = Policy.biometrics

    @Option(help: ArgumentHelp("Title of the fallback button; empty hides it", valueName: "text"))
    var fallbackTitle: String?

    @Option(help: ArgumentHelp("Title of the cancel button", valueName: "text"))
    var cancelTitle: String?

    @Option(
        help: ArgumentHelp("Accept a touch up to this many seconds old (at most 300)", valueName: "seconds")
    )
    var allowReuse: Double = 0

    @Flag(help: "Never prompt; fail unless a recent touch can be reused")
    var noInteraction = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard allowReuse.isFinite, allowReuse >= 0 else {
            throw ValidationError("--allow-reuse must not be negative.")
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
            text: [finger.map { "\(when): \($0.rawValue)" } ?? "correct passcode"]
        )
    }
}
