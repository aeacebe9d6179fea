// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Who knows whether a passcode is set and whether one is right.
///
/// It does not ask for a passcode, and it knows nothing of fingers. How often a wrong one may be tried is its
/// own care.
public protocol PasscodeAuthority: Sendable {
    /// Whether a passcode is set.
    ///
    /// - Throws: `storeFailed` when that cannot be told; a lock then does not end by time.
    var isSet: Bool { get async throws(AuthenticationError) }

    /// Compares a passcode with the one that is set.
    ///
    /// An evaluation that ends meanwhile cancels the task and then waits for the answer. A try that was begun counts,
    /// cancelled or not.
    ///
    /// - Throws: `storeFailed` when it cannot compare. A wrong passcode is a verdict, not an error.
    func verify(_ passcode: borrowing SecretBytes) async throws(AuthenticationError) -> PasscodeVerdict
}

/// What became of a passcode.
public enum PasscodeVerdict: Sendable, Hashable {
    /// It is the right one.
    case verified
    /// It is not; so many more may be tried before there is a wait, where that is known.
    case wrong(triesLeft: Int?)
    /// Too many were wrong: none is compared for so long.
    case throttled(for: Duration)
    /// There is none to compare with.
    case notSet
}

/// No passcode is set, and none can be.
public struct NoPasscode: PasscodeAuthority {
    /// Makes an authority without a passcode.
    public init() {}

    /// `false`.
    public var isSet: Bool { false }

    /// Answers ``PasscodeVerdict/notSet`` and looks at nothing.
    public func verify(_ passcode: borrowing SecretBytes) -> PasscodeVerdict { .notSet }
}
