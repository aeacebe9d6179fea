// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

/// What a prompt that the passcode can meet shows as it goes on: the finger's part and the passcode's, in order.
///
/// It is for the eye: a program takes its answer from the return value alone.
public enum PasscodePromptUpdate: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The finger was read well and is not enrolled; so many tries remain in this evaluation.
    case noMatch(remaining: Int)
    /// No finger is asked for any more, for the reason that the text says; the passcode still is.
    case fingerEnded(String)
    /// A passcode is being compared; a further one is taken after the verdict.
    case checking
    /// The passcode was wrong; so many more may be tried before there is a wait, where that is known.
    case wrongPasscode(triesLeft: Int?)
    /// Too many passcodes were wrong: none is compared for so long.
    case throttled(for: Duration)
    /// No passcode is taken any more, for the reason that the text says; a finger still is.
    case passcodeEnded(String)
    /// It is over: the finger matched.
    case matched(Finger)
    /// It is over: the passcode was the right one.
    case verified
    /// It is over without success, for the reason that the text says.
    case ended(String)

    /// What a prompt without a passcode shows of it; `nil` for nothing.
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
