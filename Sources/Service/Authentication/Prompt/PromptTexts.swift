// SPDX-License-Identifier: Apache-2.0

package import Fingerprint
internal import WhorlSupport

/// The texts that a prompt has where a request brings none.
public struct PromptTexts: Sendable, Hashable {
    /// The text of the cancel button.
    public var cancel: String
    /// The text of the fallback button.
    public var fallback: String
    /// The heading of a program without a name that could be shown.
    public var unnamedProgram: String

    /// Takes other texts, such as translated ones.
    public init(
        cancel: String = "Cancel",
        fallback: String = "Use Password…",
        unnamedProgram: String = "A program"
    ) {
        self.cancel = cancel
        self.fallback = fallback
        self.unnamedProgram = unnamedProgram
    }

    /// The prompt of a request.
    ///
    /// A cancel title of nothing but white space counts as none, since cancelling cannot be hidden; an empty
    /// fallback title hides the button, and so does a policy that has nothing to fall back on.
    package func prompt(for request: EvaluationRequest, at reader: ReaderInfo, hasPasscode: Bool) -> Prompt {
        prompt(
            for: request,
            at: reader,
            parts: .finger,
            fallbackTitle: fallbackTitle(for: request, hasPasscode: hasPasscode)
        )
    }

    /// The prompt of a request that the passcode can meet.
    ///
    /// The fallback title is what leads to the passcode; where nothing else is asked for, there is none.
    func prompt(for request: EvaluationRequest, at reader: ReaderInfo?, parts: Prompt.Parts) -> Prompt {
        let hasFinger = parts.contains(.finger)
        return prompt(
            for: request,
            at: hasFinger ? reader : nil,
            parts: parts,
            fallbackTitle: hasFinger ? fallbackTitle(for: request, hasPasscode: true) : nil
        )
    }

    private func prompt(
        for request: EvaluationRequest,
        at reader: ReaderInfo?,
        parts: Prompt.Parts,
        fallbackTitle: String?
    ) -> Prompt {
        // The program's own word for itself, as its reason is.
        let program = DisplayText.clean(request.application.rawValue, limit: 60)
        let cancelTitle = request.cancelTitle.map { DisplayText.clean($0) } ?? ""
        return Prompt(
            title: DisplayText.isBlank(program) ? unnamedProgram : program,
            reason: DisplayText.clean(request.reason),
            cancelTitle: DisplayText.isBlank(cancelTitle) ? cancel : cancelTitle,
            fallbackTitle: fallbackTitle,
            readerKind: reader?.kind ?? .hardware,
            scanType: reader?.scanType ?? .press,
            parts: parts
        )
    }

    private func fallbackTitle(for request: EvaluationRequest, hasPasscode: Bool) -> String? {
        let canFallBack =
            switch request.policy {
            // The program brings its own way.
            case .biometrics: true
            case .deviceOwner: hasPasscode
            }
        let title = DisplayText.clean(request.fallbackTitle ?? fallback)
        return canFallBack && !DisplayText.isBlank(title) ? title : nil
    }
}

extension DisplayText {
    /// Whether nothing of a text would be seen.
    package static func isBlank(_ text: String) -> Bool {
        clean(text).unicodeScalars.allSatisfy {
            // The fillers and the blank Braille pattern count as letters and symbols, and show nothing.
            $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint || $0 == "\u{2800}"
        }
    }
}
