// SPDX-License-Identifier: Apache-2.0

public import SecretMemory
public import WhorlService

/// An authority that knows whether a passcode is set and compares passcodes with it.
///
/// It does not ask for a passcode, and it is independent of fingers. It limits itself how often a wrong passcode may be
/// tried.
public protocol PasscodeAuthority: Sendable {
    /// Whether a passcode is set.
    ///
    /// - Throws: `storeFailed` when that cannot be determined; a lock then does not end by time.
    var isSet: Bool { get async throws(AuthenticationError) }

    /// Compares a passcode with the one that is set.
    ///
    /// An evaluation that ends during the comparison cancels the task and then waits for the answer. A try that was
    /// begun counts, cancelled or not.
    ///
    /// - Throws: `storeFailed` when it cannot compare. A wrong passcode is a verdict, not an error.
    func verify(_ passcode: borrowing SecretBytes) async throws(AuthenticationError) -> PasscodeVerdict
}

/// An authority without a passcode, for which none can be set.
public struct NoPasscode: PasscodeAuthority {
    /// Makes an authority without a passcode.
    public init() {}

    /// `false`.
    public var isSet: Bool { false }

    /// Returns ``PasscodeVerdict/notSet`` without a comparison.
    public func verify(_ passcode: borrowing SecretBytes) -> PasscodeVerdict { .notSet }
}
