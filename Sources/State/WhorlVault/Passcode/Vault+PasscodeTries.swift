// SPDX-License-Identifier: Apache-2.0

import GRDB
import SecretMemory
import StateStore
import WhorlTPM
public import WhorlService

/// A try of a passcode, from its count to the chip's result.
extension Vault {
    /// Returns the passcode's row, and the authorization value that the chip has found right.
    func verified(
        _ passcode: SecretBox,
        of profile: String
    ) async throws(VaultError) -> (PasscodeRow, SecretBox) {
        guard let row = try await self.passcode(of: profile) else {
            throw VaultError(.passcodeNotSet, profile)
        }
        guard let authority = try authority() else {
            throw VaultError(.chipCleared, profile, cause: "the authority's file is gone")
        }
        // The wait is checked first, so that a refused try does not take the time of scrypt too.
        try await refuseThrottled(profile)
        // A passcode of an impossible size is wrong, and takes a try.
        let authorization: SecretBox? =
            PasscodeSize.allowed.contains(passcode.bytes.count)
            ? try await row.derivation.authorization(of: passcode) : nil
        try await reserveTry(profile)
        guard let authorization else { throw VaultError(.passcodeWrong, profile) }
        switch try await verdict(authorization, row, authority) {
        case .right:
            try await settleTries(profile) { $0 = PasscodeTries() }
            return (row, authorization)
        case .wrong: throw VaultError(.passcodeWrong, profile)
        case .lockedOut:
            // The chip compared nothing.
            try await settleTries(profile) { $0.release() }
            throw VaultError(.chipLockedOut, profile)
        }
    }

    /// Returns the time until Whorl compares a passcode of a profile again; `nil` when one may be tried now.
    ///
    /// - Throws: `store`.
    public func passcodeWait(of profile: String) async throws(VaultError) -> Duration? {
        let now = time.now()
        return try await read { try PasscodeTries.read(profile, $0).wait(at: now) }
    }

    /// Returns the number of further wrong passcodes of a profile without a wait; those of other processes count too.
    ///
    /// - Throws: `store`.
    public func passcodeTriesLeft(of profile: String) async throws(VaultError) -> Int {
        try await read { try PasscodeTries.read(profile, $0).left }
    }

    private func verdict(
        _ authorization: SecretBox,
        _ row: PasscodeRow,
        _ authority: VaultAuthority
    ) async throws(VaultError) -> AuthVerdict {
        do {
            return try await device.perform { commands throws(TPMError) in
                try commands.verify(authorization, of: row.object, under: authority.root)
            }
        } catch {
            switch error.code {
            case .noDevice, .permission, .deviceBusy, .cancelled, .foreignRoot, .foreignBlob:
                // The chip was not reached, or does not know the object: it compared nothing.
                try await settleTries(row.profile) { $0.release() }
            default: break
            }
            guard error.code != .foreignBlob else {
                throw VaultError(.chipCleared, row.profile, cause: error.description)
            }
            throw VaultError(error, row.profile)
        }
    }

    private func refuseThrottled(_ profile: String) async throws(VaultError) {
        guard let wait = try await passcodeWait(of: profile) else { return }
        throw VaultError(.passcodeThrottled(for: wait), profile)
    }

    /// Counts a try on disk before it is made, in one transaction with the check of the waits.
    private func reserveTry(_ profile: String) async throws(VaultError) {
        let now = time.now()
        let wait: Duration? = try await write { db in
            var tries = try PasscodeTries.read(profile, db)
            guard let wait = tries.reserve(at: now) else {
                try tries.save(profile, db)
                return nil
            }
            return wait
        }
        if let wait { throw VaultError(.passcodeThrottled(for: wait), profile) }
    }

    private func settleTries(
        _ profile: String,
        _ change: @escaping @Sendable (inout PasscodeTries) -> Void
    ) async throws(VaultError) {
        try await write { db in
            var tries = try PasscodeTries.read(profile, db)
            change(&tries)
            try tries.save(profile, db)
        }
    }
}
