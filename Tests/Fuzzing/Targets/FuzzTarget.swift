// SPDX-License-Identifier: Apache-2.0

/// One reader of bytes from outside, and the promise that holds whatever the bytes are.
struct FuzzTarget: Sendable {
    /// The name of its folder in `Corpus`.
    let name: String
    /// The most bytes that are worth a try.
    let longestInput: Int
    /// Gives the bytes to the reader.
    ///
    /// - Throws: ``BrokenPromise``; anything else that the code under test throws is an answer, and stays in here.
    let check: @Sendable (_ input: [UInt8]) throws(BrokenPromise) -> Void

    /// All of them.
    static let all: [FuzzTarget] =
        mockTargets + pictureTargets + textTargets + configurationTargets + enrollmentTargets + attemptTargets
        + databaseTargets + libfprintTargets + vaultTargets + keychainTargets + keyTargets
        + loginTargets + attestationTargets + loginClientTargets + serviceTargets
        + callerTargets + wireTargets + sshTargets + ageTargets
}

/// What a target promises and did not keep.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Breaks the promise unless it holds.
func promise(_ holds: Bool, _ what: @autoclosure () -> String) throws(BrokenPromise) {
    guard holds else { throw BrokenPromise(what()) }
}
