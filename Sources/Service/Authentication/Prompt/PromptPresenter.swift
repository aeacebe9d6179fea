// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
internal import WhorlSupport

/// What a prompt shows from the beginning.
public struct Prompt: Sendable, Hashable {
    /// What a prompt asks for; either is enough.
    public struct Parts: OptionSet, Sendable, Hashable {
        /// The parts as bits.
        public let rawValue: Int

        /// Takes bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A finger on the reader.
        public static let finger = Parts(rawValue: 1)
        /// The owner's passcode.
        public static let passcode = Parts(rawValue: 2)
    }

    /// The heading: the name of the program that asks, as that names itself.
    public let title: String
    /// Why the program asks.
    ///
    /// It is somebody's input: pass it through ``DisplayText`` before it is shown.
    public let reason: String
    /// The text of the cancel button, never empty.
    public let cancelTitle: String
    /// The text of the fallback button; `nil` hides it.
    public let fallbackTitle: String?
    /// What kind of reader answers, so that a pretended one is shown as such; `hardware` where none is asked.
    public let readerKind: ReaderInfo.Kind
    /// Press or swipe; `press` where no finger is asked for.
    public let scanType: ReaderInfo.ScanType
    /// What is asked for from the beginning.
    public let parts: Parts

    /// Describes a prompt.
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

/// What a prompt shows as it goes on.
///
/// It is for the eye: a program takes its answer from the return value alone.
public enum PromptUpdate: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The finger was read well and is not enrolled; so many tries remain in this evaluation.
    case noMatch(remaining: Int)
    /// It is over: the finger matched.
    case matched(Finger)
    /// It is over without success, for the reason that the text says.
    case ended(String)
}

/// What the person did with the prompt.
public enum PromptAction: Sendable, Hashable {
    /// Pressed cancel.
    case cancel
    /// Pressed the fallback button.
    case fallback
}

/// Shows the prompt of an evaluation: on a terminal, a desktop, a kiosk.
///
/// Programs that embed Whorl give their own.
public protocol PromptPresenter: Sendable {
    /// Whether a person can see the prompt. When not, an evaluation on real hardware ends with
    /// `notInteractive`.
    var isInteractive: Bool { get async }

    /// Shows the prompt until `updates` ends or its task is cancelled, and says what the person did.
    ///
    /// - Returns: The button that was pressed; `nil` when the updates ended first. It must return soon after
    ///   either end.
    func show(_ prompt: Prompt, updates: AsyncStream<PromptUpdate>) async -> PromptAction?

    /// Whether a person can type a passcode into the prompt; `false` unless a presenter says otherwise.
    ///
    /// Without, an evaluation asks for a finger alone.
    var takesPasscode: Bool { get async }

    /// Shows a prompt that the passcode can meet, until the updates end or its task is cancelled.
    ///
    /// It is called only where ``takesPasscode`` is `true`. The passcode is asked for from the beginning, or from
    /// ``PasscodePromptUpdate/fingerEnded(_:)`` on where the prompt has a finger part and no fallback title: the
    /// program hides the other way then.
    ///
    /// - Returns: As ``show(_:updates:)``. It gives no ``PromptAction/fallback`` for the passcode: that would end the
    ///   evaluation.
    func show(_ prompt: Prompt, passcode: PasscodeEntry) async -> PromptAction?
}

extension PromptPresenter {
    /// `false`: the presenter knows nothing of passcodes.
    public var takesPasscode: Bool {
        get async { false }
    }

    /// Shows the finger's part alone.
    public func show(_ prompt: Prompt, passcode: PasscodeEntry) async -> PromptAction? {
        passcode.close()
        return await show(prompt, updates: passcode.fingerUpdates)
    }
}
