// SPDX-License-Identifier: Apache-2.0

package import WhorlSecretMemory
import Synchronization
package import WhorlService
import WhorlVault

/// An authority that knows whether a passcode is set, and compares passcodes with it.
///
/// It does not prompt for a passcode, and does not depend on fingers. It limits how often a wrong passcode can be
/// tried.
package protocol PasscodeAuthority: Sendable {
    /// Whether a passcode is set.
    ///
    /// - Throws: `storeFailed` if this cannot be determined. A lockout then does not end after a time.
    var isSet: Bool { get async throws(ServiceError) }

    /// Compares a passcode with the one that is set.
    ///
    /// If the evaluation ends during the comparison, it cancels the task and then waits for the result. An attempt that
    /// has begun counts even if it is cancelled.
    ///
    /// - Throws: `storeFailed` if the passcodes cannot be compared. A wrong passcode is a verdict, not an error.
    func verify(_ passcode: borrowing SecretBytes) async throws(ServiceError) -> PasscodeVerdict
}

/// An authority for which a passcode cannot be set.
package struct NoPasscode: PasscodeAuthority {
    /// Creates an authority without a passcode.
    package init() {}

    /// Always `false`, because a passcode cannot be set.
    package var isSet: Bool { false }

    /// Returns ``PasscodeVerdict/notSet`` without comparing anything.
    package func verify(_ passcode: borrowing SecretBytes) -> PasscodeVerdict { .notSet }
}

/// The authority for a passcode that the vault stores as a TPM object.
package struct VaultPasscode: PasscodeAuthority {
    private let profile: String
    private let source: any VaultSource
    /// Called when the TPM has accepted a passcode, before the caller receives the result.
    private let onVerified: @Sendable () throws(ServiceError) -> Void

    /// Creates the authority for the passcode of a profile.
    package init(of profile: String, in source: any VaultSource) {
        self.init(of: profile, in: source) {}
    }

    /// Creates the authority for the passcode of a profile, with a function to call after each correct passcode.
    package init(
        of profile: String,
        in source: any VaultSource,
        onVerified: @escaping @Sendable () throws(ServiceError) -> Void
    ) {
        self.profile = profile
        self.source = source
        self.onVerified = onVerified
    }

    /// Whether a passcode is set.
    ///
    /// The TPM is used only if it protects the state key.
    package var isSet: Bool {
        get async throws(ServiceError) {
            guard let vault = try await source.existingVault() else { return false }
            return try await vault.isPasscodeSet(of: profile)
        }
    }

    /// Compares a passcode by using the TPM.
    ///
    /// - Throws: `chipUnavailable` if the TPM cannot compare it, `authenticationFailed` while the TPM refuses to, or
    ///   `storeFailed`.
    package func verify(_ passcode: borrowing SecretBytes) async throws(ServiceError)
        -> PasscodeVerdict
    {
        try await compare(passcode).0
    }

    /// Returns the verdict on a passcode, and the proof if the passcode is correct.
    fileprivate func compare(
        _ passcode: borrowing SecretBytes
    ) async throws(ServiceError) -> (PasscodeVerdict, OwnerProof?) {
        let box = SecretBox(passcode.withBytes { SecretBytes(copying: $0) })
        guard let vault = try await source.existingVault() else { return (.notSet, nil) }
        let (verdict, proof) = try await vault.verdict(on: box, of: profile)
        if verdict == .verified {
            try onVerified()
        }
        return (verdict, proof)
    }
}

/// The authority for one request, which stores the proof of the correct passcode.
final class ProofKeeper: PasscodeAuthority {
    private let passcode: VaultPasscode
    private let kept = Mutex<OwnerProof?>(nil)

    init(_ passcode: VaultPasscode) { self.passcode = passcode }

    /// The proof of the passcode; `nil` if a correct one was not entered.
    var proof: OwnerProof? { kept.withLock(\.self) }

    var isSet: Bool {
        get async throws(ServiceError) { try await passcode.isSet }
    }

    func verify(_ passcode: borrowing SecretBytes) async throws(ServiceError) -> PasscodeVerdict {
        let (verdict, proof) = try await self.passcode.compare(passcode)
        kept.withLock { $0 = proof }
        return verdict
    }
}

extension Vault {
    /// Returns the verdict on a passcode, and the proof if the passcode is correct.
    fileprivate func verdict(
        on passcode: SecretBox,
        of profile: String
    ) async throws(ServiceError) -> (PasscodeVerdict, OwnerProof?) {
        do {
            return (.verified, try await verify(passcode, of: profile))
        } catch {
            switch error.code {
            case .passcodeWrong: return (.wrong(triesLeft: try await passcodeTriesLeft(of: profile)), nil)
            case .passcodeThrottled: return (.throttled(for: error.wait), nil)
            case .passcodeBusy: return (.throttled(for: .seconds(1)), nil)
            case .passcodeNotSet: return (.notSet, nil)
            default: throw error
            }
        }
    }
}
