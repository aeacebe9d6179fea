// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

/// An update of a prompt that the passcode can meet: the finger's part and the passcode's, in order.
///
/// Updates are for display: a program takes its answer from the return value alone.
public enum PasscodePromptUpdate: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The finger was read well and is not enrolled; the given number of tries remains in this evaluation.
    case noMatch(remaining: Int)
    /// The finger's part ended, for the reason in the text; the passcode is still asked for.
    case fingerEnded(String)
    /// A passcode is being compared; a further one is taken after the verdict.
    case checking
    /// The passcode was wrong; the given number of tries is left before a wait, if the number is known.
    case wrongPasscode(triesLeft: Int?)
    /// Too many passcodes were wrong: none is compared for the given time.
    case throttled(for: Duration)
    /// The passcode's part ended, for the reason in the text; a finger is still asked for.
    case passcodeEnded(String)
    /// The evaluation ended: the finger matched.
    case matched(Finger)
    /// The evaluation ended: the passcode was right.
    case verified
    /// The evaluation ended without success, for the reason in the text.
    case ended(String)

    /// The corresponding update of a prompt without a passcode; `nil` if there is none.
    var ofFinger: PromptUpdate? {
        switch self {
        case .scan(let event): .scan(event)
        case .noMatch(let remaining): .noMatch(remaining: remaining)
        case .matched(let finger): .matched(finger)
        case .fingerEnded(let text), .ended(let text): .ended(text)
        case .verified: .ended("")
        case .checking, .wrongPasscode, .throttled, .passcodeEnded: nil
        }
    }
}
