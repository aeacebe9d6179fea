// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
internal import WhorlSupport

/// The initial content of a prompt.
public struct Prompt: Sendable, Hashable {
    /// The parts that a prompt asks for; either is enough.
    public struct Parts: OptionSet, Sendable, Hashable {
        /// The parts as bits.
        public let rawValue: Int

        /// Makes parts from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A finger on the reader.
        public static let finger = Parts(rawValue: 1)
        /// The owner's passcode.
        public static let passcode = Parts(rawValue: 2)
    }

    /// The heading: the name that the program gives itself.
    public let title: String
    /// The reason of the request.
    ///
    /// It is untrusted input: pass it through ``DisplayText`` before it is shown.
    public let reason: String
    /// The text of the cancel button, never empty.
    public let cancelTitle: String
    /// The text of the fallback button; `nil` hides it.
    public let fallbackTitle: String?
    /// The kind of reader, so that a pretended one is shown as such; `hardware` where none is asked.
    public let readerKind: ReaderInfo.Kind
    /// The type of scan, press or swipe; `press` where no finger is asked for.
    public let scanType: ReaderInfo.ScanType
    /// The parts that are asked for from the beginning.
    public let parts: Parts

    /// Makes a prompt.
    public init(
        title: String,
        reason: String,
        cancelTitle: String,
        fallbackTitle: String?,
        readerKind: ReaderInfo.Kind,
        scanType: ReaderInfo.ScanType,
        parts: Parts = .finger
    ) {
        self.title = title
        self.reason = reason
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.readerKind = readerKind
        self.scanType = scanType
        self.parts = parts
    }
}

/// An update of a prompt.
///
/// Updates are for display: a program takes its answer from the return value alone.
public enum PromptUpdate: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The finger was read well and is not enrolled; the given number of tries remains in this evaluation.
    case noMatch(remaining: Int)
    /// The evaluation ended: the finger matched.
    case matched(Finger)
    /// The evaluation ended without success, for the reason in the text.
    case ended(String)
}

/// A button that the person pressed in the prompt.
public enum PromptAction: Sendable, Hashable {
    /// The cancel button.
    case cancel
    /// The fallback button.
    case fallback
}

/// A presenter that shows the prompt of an evaluation: on a terminal, a desktop, a kiosk.
///
/// Programs that embed Whorl provide their own presenter.
public protocol PromptPresenter: Sendable {
    /// Whether a person can see the prompt. If not, an evaluation on real hardware ends with `notInteractive`.
    var isInteractive: Bool { get async }

    /// Shows the prompt until `updates` ends or its task is cancelled, and returns the person's action.
    ///
    /// - Returns: The button that was pressed; `nil` when the updates ended first. The function must return soon after
    ///   either end.
    func show(_ prompt: Prompt, updates: AsyncStream<PromptUpdate>) async -> PromptAction?

    /// Whether a person can type a passcode into the prompt; `false` by default.
    ///
    /// If `false`, an evaluation asks for a finger alone.
    var takesPasscode: Bool { get async }

    /// Shows a prompt that the passcode can meet, until the updates end or its task is cancelled.
    ///
    /// It is called only where ``takesPasscode`` is `true`. The passcode is asked for from the beginning. If the prompt
    /// has a finger part and no fallback title, the passcode is asked for only after
    /// ``PasscodePromptUpdate/fingerEnded(_:)``, since the program hides the fallback then.
    ///
    /// - Returns: As ``show(_:updates:)``. Do not return ``PromptAction/fallback`` for the passcode: that would end the
    ///   evaluation.
    func show(_ prompt: Prompt, passcode: PasscodeEntry) async -> PromptAction?
}

extension PromptPresenter {
    /// `false`, since this presenter does not support passcodes.
    public var takesPasscode: Bool {
        get async { false }
    }

    /// Shows the finger's part alone.
    public func show(_ prompt: Prompt, passcode: PasscodeEntry) async -> PromptAction? {
        passcode.close()
        return await show(prompt, updates: passcode.fingerUpdates)
    }
}
