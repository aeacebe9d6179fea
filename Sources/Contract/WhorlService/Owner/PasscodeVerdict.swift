// SPDX-License-Identifier: Apache-2.0

/// The result of comparing a passcode.
public enum PasscodeVerdict: Sendable, Hashable {
    /// The passcode is correct.
    case verified
    /// The passcode is wrong; the given number of attempts is left before a delay, if the number is known.
    case wrong(triesLeft: Int?)
    /// Too many wrong passcodes were entered; no passcode is accepted for the given time.
    case throttled(for: Duration)
    /// No passcode is set.
    case notSet
}

/// Size limits of passcodes.
public enum PasscodeSize {
    /// The allowed size of a new passcode in bytes.
    public static let allowed = 4...1024
}
