// SPDX-License-Identifier: Apache-2.0

/// The verdict on a passcode.
public enum PasscodeVerdict: Sendable, Hashable {
    /// Passcode correct.
    case verified
    /// The passcode is wrong; the given number of tries is left before a wait, if the number is known.
    case wrong(triesLeft: Int?)
    /// Too many passcodes were wrong: none is compared for the given time.
    case throttled(for: Duration)
    /// No passcode is set.
    case notSet
}

/// The sizes of a passcode.
public enum PasscodeSize {
    /// The sizes that a new passcode may have, in bytes.
    public static let allowed = 4...1024
}
