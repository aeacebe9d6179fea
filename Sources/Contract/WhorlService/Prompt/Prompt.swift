// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint
internal import WhorlSupport

/// The initial content of a prompt.
public struct Prompt: Sendable, Hashable, Codable {
    /// The proofs that a prompt accepts; either is sufficient.
    public struct Parts: OptionSet, Sendable, Hashable {
        /// The parts as a bit mask.
        public let rawValue: Int

        /// Creates parts from a bit mask.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A finger on the reader.
        public static let finger = Parts(rawValue: 1)
        /// The owner's passcode.
        public static let passcode = Parts(rawValue: 2)
    }

    /// The heading: the name that the program gave itself.
    public let title: String
    /// The reason for the request.
    ///
    /// It is untrusted input: clean it with ``DisplayText`` before showing it.
    public let reason: String
    /// The purpose of the touch or passcode, which the service determines; show ``purposeLine``.
    public let purpose: TouchPurpose
    /// The limits of the proof that the touch leaves; `nil` if it leaves no proof.
    public let limits: ProofLimits?
    /// The title of the cancel button, never empty.
    public let cancelTitle: String
    /// The title of the fallback button; `nil` hides the button.
    public let fallbackTitle: String?
    /// The kind of reader, so that the prompt can indicate a virtual one; `hardware` if no reader is used.
    public let readerKind: ReaderInfo.Kind
    /// The type of scan, press or swipe; `press` if no finger is accepted.
    public let scanType: ReaderInfo.ScanType
    /// The proofs that the prompt accepts from the start.
    public var parts: Parts
    /// The calling program as the system service knows it; `nil` if it runs in the same process.
    ///
    /// Show ``Asker/spoken(_:)`` instead of ``title``, which is not verified.
    public let asker: Asker?

    /// Creates a prompt.
    public init(
        title: String,
        reason: String,
        purpose: TouchPurpose,
        limits: ProofLimits? = nil,
        cancelTitle: String,
        fallbackTitle: String?,
        readerKind: ReaderInfo.Kind,
        scanType: ReaderInfo.ScanType,
        parts: Parts = .finger,
        asker: Asker? = nil
    ) {
        self.title = title
        self.reason = reason
        self.purpose = purpose
        self.limits = limits
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.readerKind = readerKind
        self.scanType = scanType
        self.parts = parts
        self.asker = asker
    }
}

extension Prompt {
    /// The sentence that describes the purpose of the touch or passcode, in the user's language.
    ///
    /// The service determines it, and the calling program cannot change it. Show it separately from ``reason``.
    public var purposeLine: String { purpose.line(limits) }
}

/// A button that the user pressed in the prompt.
public enum PromptAction: String, Sendable, Hashable, Codable {
    /// The cancel button.
    case cancel = "cancel"
    /// The fallback button.
    case fallback = "fallback"
}

extension Prompt.Parts: Codable {
    private static let codes: [(code: String, part: Prompt.Parts)] = [
        ("finger", .finger), ("passcode", .passcode),
    ]

    /// Decodes the names of parts; ignores unknown names, because they cannot be shown.
    public init(from decoder: any Decoder) throws {
        let names = try [String](from: decoder)
        self.init(Self.codes.filter { names.contains($0.code) }.map(\.part))
    }

    /// Encodes the parts as a list of names.
    public func encode(to encoder: any Encoder) throws {
        try Self.codes.filter { contains($0.part) }.map(\.code).encode(to: encoder)
    }
}

extension Prompt {
    /// Returns whether the prompt shows an update; updates about passcodes appear only if it accepts the passcode.
    package func shows(_ update: PromptUpdate) -> Bool {
        switch update {
        case .checking, .wrongPasscode, .throttled, .passcodeEnded: parts.contains(.passcode)
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .matched, .verified, .ended: true
        }
    }

    /// Returns the message for an update in the user's language; `nil` if the update has no message.
    ///
    /// A prompt that does not accept the passcode does not show messages about passcodes that are entered elsewhere.
    public func message(for update: PromptUpdate) -> String? {
        guard shows(update) else { return nil }
        return switch update {
        case .scan(.touch): translated(scanType.instruction)
        case .scan(.finger), .scan(.alike), .checking: nil
        case .scan(.retry(let reason)): translated(reason.hint)
        case .scan(.stage(let completed, let total)):
            translated("%1$@ of %2$@.", with: String(completed), String(total))
        case .noMatch(..<1): translated("Not recognized.")
        case .noMatch(let remaining):
            translated("Not recognized. %d try left.", "Not recognized. %d tries left.", count: remaining)
        case .anotherFinger: translated("Recognized. Now use another finger.")
        case .wrongPasscode(nil): translated("Wrong passcode.")
        case .wrongPasscode(.some(..<1)): translated("Wrong passcode. Wait before you try again.")
        case .wrongPasscode(.some(let left)):
            translated(
                "Wrong passcode. %d try left before a delay.",
                "Wrong passcode. %d tries left before a delay.",
                count: left
            )
        case .throttled(let wait):
            translated("Too many wrong passcodes. Wait %1$@.", with: wait.translated)
        case .matched(let finger): translated("Matched: %1$@.", with: translated(finger.spokenName))
        case .verified: translated("Passcode correct.")
        case .fingerEnded(let reason), .passcodeEnded(let reason), .ended(let reason): translated(reason)
        }
    }
}
