// SPDX-License-Identifier: Apache-2.0

/// The sizes of a passcode.
public enum PasscodeSize {
    /// The sizes that a new passcode may have, in bytes.
    public static let allowed = 4...1024
}
