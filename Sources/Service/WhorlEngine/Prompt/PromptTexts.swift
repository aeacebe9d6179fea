// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
package import WhorlService
internal import WhorlSupport

/// The default texts of a prompt.
package struct PromptTexts: Sendable, Hashable {
    /// The text of the cancel button.
    package var cancel: String
    /// The text of the fallback button.
    package var fallback: String
    /// The heading for a program whose name cannot be shown.
    package var unnamedProgram: String

    /// Creates a set of texts, for example translated ones.
    package init(
        cancel: String = "Cancel",
        fallback: String = "Use Password…",
        unnamedProgram: String = "A program"
    ) {
        self.cancel = cancel
        self.fallback = fallback
        self.unnamedProgram = unnamedProgram
    }

    /// Returns the prompt for a request, on a machine with these limits for proofs.
    ///
    /// A cancel title that consists only of white space is ignored, because the cancel button cannot be hidden. The
    /// fallback button is hidden if its title is empty or the policy does not have a fallback.
    package func prompt(
        for request: EvaluationRequest,
        _ limits: ProofLimits,
        at reader: ReaderInfo,
        hasPasscode: Bool
    ) -> Prompt {
        prompt(
            for: request,
            limits,
            at: reader,
            parts: .finger,
            fallbackTitle: fallbackTitle(for: request, hasPasscode: hasPasscode)
        )
    }

    /// Returns the prompt for a request that the passcode can satisfy.
    ///
    /// The fallback button leads to the passcode. If the prompt accepts only the passcode, it does not have a fallback
    /// title.
    func prompt(
        for request: EvaluationRequest,
        _ limits: ProofLimits,
        at reader: ReaderInfo?,
        parts: Prompt.Parts
    ) -> Prompt {
        let hasFinger = parts.contains(.finger)
        return prompt(
            for: request,
            limits,
            at: hasFinger ? reader : nil,
            parts: parts,
            fallbackTitle: hasFinger ? fallbackTitle(for: request, hasPasscode: true) : nil
        )
    }

    private func prompt(
        for request: EvaluationRequest,
        _ limits: ProofLimits,
        at reader: ReaderInfo?,
        parts: Prompt.Parts,
        fallbackTitle: String?
    ) -> Prompt {
        // The name is supplied by the program, like its reason.
        let program = DisplayText.clean(request.application.rawValue, limit: 60)
        let cancelTitle = request.cancelTitle.map { DisplayText.clean($0) } ?? ""
        return Prompt(
            title: DisplayText.isBlank(program) ? unnamedProgram : program,
            reason: DisplayText.clean(request.reason),
            purpose: request.purpose,
            limits: request.session == nil ? nil : request.limits(limits),
            cancelTitle: DisplayText.isBlank(cancelTitle) ? cancel : cancelTitle,
            fallbackTitle: fallbackTitle,
            readerKind: reader?.kind ?? .hardware,
            scanType: reader?.scanType ?? .press,
            parts: parts,
            asker: request.asker
        )
    }

    private func fallbackTitle(for request: EvaluationRequest, hasPasscode: Bool) -> String? {
        let canFallBack =
            switch request.policy {
            // The program provides its own fallback.
            case .biometrics: true
            case .deviceOwner: hasPasscode
            }
        let title = DisplayText.clean(request.fallbackTitle ?? fallback)
        return canFallBack && !DisplayText.isBlank(title) ? title : nil
    }
}

extension EvaluationRequest {
    /// Returns the limits of the proof that the touch leaves; `nil` if it counts for at most one request.
    fileprivate func limits(_ machine: ProofLimits) -> ProofLimits? {
        if let burst {
            let seconds = min(Int(burst.components.seconds), machine.wholeSeconds)
            return ProofLimits(unusedSeconds: seconds, wholeSeconds: seconds)
        }
        return purpose.proof == .untilLimit ? machine : nil
    }
}
