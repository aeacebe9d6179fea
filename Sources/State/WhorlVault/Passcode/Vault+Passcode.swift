// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
package import WhorlSecretMemory
import WhorlStateStore
import WhorlTPM
package import WhorlService

/// Functions for the owner's passcode, which is represented by a TPM object whose authorization value is derived from
/// it.
///
/// Wrong attempts are limited in two ways. The vault requires delays that persist after the process ends, and the TPM
/// counts the attempts of all programs together.
extension Vault {
    /// Returns whether a passcode is set for a profile.
    ///
    /// - Throws: A storage error.
    package func isPasscodeSet(of profile: String) async throws(ServiceError) -> Bool {
        try await passcode(of: profile) != nil
    }

    /// Sets the first passcode of a profile.
    ///
    /// If a finger is enrolled, a proof of a finger is required, because a passcode allows enrolling more fingers.
    /// Whether it is required depends on the fingers at the time of the call. A caller that was authorized in another
    /// way does not pass a proof.
    ///
    /// - Parameters:
    ///   - passcode: The passcode exactly as typed, 4 to 1,024 bytes long.
    ///   - profile: The profile to set the passcode for.
    ///   - proof: The owner's proof, or `nil` if no finger is enrolled and the passcode may be set without one.
    /// - Throws: `passcodeExists`, `passcodeWrongSize`, `accessDenied` if the proof does not include a finger or a
    ///   required proof is missing, `noChip`, or a storage error.
    package func setPasscode(
        _ passcode: SecretBox,
        of profile: String,
        shown proof: OwnerProof? = nil
    ) async throws(ServiceError) {
        guard try await self.passcode(of: profile) == nil else {
            throw ServiceError(.passcodeExists, profile)
        }
        let derivation = PasscodeDerivation()
        let authorization = try await inTurn { turn async throws(ServiceError) in
            try await derivation.authorization(of: passcode, in: turn)
        }
        try await sealing { authority throws(ServiceError) in
            let object = try await chip { commands throws(TPMError) in
                try commands.createAuthority(
                    under: authority.root,
                    auth: authorization,
                    dictionaryAttack: true
                )
            }
            let row = passcodeRow(object, derivation, of: profile)
            let seal = seal
            let showsFinger = proof.map { $0.profile == profile && $0.showsFinger }
            let outcome: Result<Bool, ServiceError> = try await database.transaction(.full) { db in
                guard try showsFinger ?? !OwnerFingers.areEnrolled(of: profile, db) else {
                    return .failure(
                        ServiceError(
                            .accessDenied,
                            "passcode of \(profile)",
                            cause: "the proof does not include a finger"
                        )
                    )
                }
                return .success(try row.insert(db, seal))
            }
            guard try outcome.get() else { throw ServiceError(.passcodeExists, profile) }
        }
    }

    /// Compares a passcode with the current one.
    ///
    /// An attempt is counted before the passcode is compared, so an attacker cannot gain an attempt by killing the
    /// process or starting a second one.
    ///
    /// - Parameters:
    ///   - passcode: The passcode exactly as typed.
    ///   - profile: The profile of the passcode.
    /// - Returns: The owner's proof.
    /// - Throws: `passcodeWrong`, `passcodeThrottled`, `chipLockedOut`, `passcodeNotSet`, `noChip`, `chipCleared`, a
    ///   storage error. A passcode of an impossible size is treated as wrong and is counted.
    package func verify(_ passcode: SecretBox, of profile: String) async throws(ServiceError) -> OwnerProof {
        let (row, authorization) = try await verified(passcode, of: profile)
        return OwnerProof(
            profile: profile,
            passcode: .init(object: row.object, authorization: authorization)
        )
    }

    /// Returns whether the passcode in a proof is the current one, without accessing the TPM.
    ///
    /// The TPM itself still accepts the object of an earlier passcode.
    ///
    /// - Returns: Whether the passcode is the current one. This is `false` for a proof without a passcode.
    /// - Throws: A storage error.
    package func isCurrent(_ proof: OwnerProof) async throws(ServiceError) -> Bool {
        guard let shown = proof.passcode else { return false }
        return try await passcode(of: proof.profile)?.object == shown.object
    }

    /// Changes the passcode.
    ///
    /// Items that were bound to the old one are then bound to the new one.
    ///
    /// An earlier copy of the database can still be unlocked with the old passcode on this TPM.
    ///
    /// - Parameters:
    ///   - new: The new passcode exactly as typed, 4 to 1,024 bytes long.
    ///   - proof: The proof of the current passcode.
    /// - Throws: `accessDenied` without a proof of the passcode, `passcodeWrong` if the passcode has been changed since
    ///   then, `passcodeNotSet`, `passcodeWrongSize`, `noChip`, `chipCleared`, or a storage error.
    package func changePasscode(to new: SecretBox, shown proof: OwnerProof) async throws(ServiceError) {
        let profile = proof.profile
        guard PasscodeSize.allowed.contains(new.bytes.count) else { throw ServiceError(.passcodeWrongSize) }
        let (row, shown) = try await shownPasscode(proof)
        let derivation = PasscodeDerivation()
        let authorization = try await inTurn { turn async throws(ServiceError) in
            try await derivation.authorization(of: new, in: turn)
        }
        let authority = try await provisionedAuthority()
        let object = try await chip { commands throws(TPMError) in
            try commands.changeAuth(
                of: row.object,
                under: authority.root,
                from: shown.authorization,
                to: authorization
            )
        }
        // The name is the same, so every policy that names the passcode stays valid.
        guard object.name == row.object.name else {
            throw ServiceError(.chipFailed, cause: "TPM2_ObjectChangeAuth returned a different object")
        }
        let changed = passcodeRow(object, derivation, of: profile)
        let seal = seal
        // Another process may have changed or removed the passcode since it was read. In that case, this change did not
        // happen.
        guard try await database.write(.full, { try changed.replace(row, $0, seal) }) else {
            throw ServiceError(.passcodeWrong, profile, cause: "another program changed the passcode")
        }
    }

    /// Removes the passcode and the items that can be unlocked only with it.
    ///
    /// - Parameters:
    ///   - proof: The proof of the current passcode.
    ///   - force: Whether to delete the items that would be lost. If this is `false` and there are any, nothing is
    ///     changed.
    /// - Returns: The items that were deleted.
    /// - Throws: `passcodeNeeded(by:)`, `accessDenied` without a proof of the passcode, `passcodeWrong` if the passcode
    ///   has been changed since then, `passcodeNotSet`, or a storage error.
    @discardableResult
    package func removePasscode(shown proof: OwnerProof, force: Bool) async throws(ServiceError) -> [ItemID] {
        let (row, _) = try await shownPasscode(proof)
        let (profile, seal) = (proof.profile, seal)
        let outcome: Result<[ItemID], ServiceError> = try await database.transaction(.full) { db in
            let (lost, needed) = try Self.lostItems(of: profile, db, seal)
            if !force, let needed { return .failure(needed) }
            guard try PasscodeRow.delete(row, db) else {
                return .failure(ServiceError(.passcodeWrong, profile, cause: "another program changed it"))
            }
            for id in lost { _ = try ItemRow.delete(id, db) }
            try PasscodeBoundItems.delete(of: profile, db)
            return .success(lost)
        }
        return try outcome.get()
    }

    /// Throws an error if removing the passcode would make items unusable.
    ///
    /// - Throws: `passcodeNeeded(by:)` or a storage error.
    package func refuseNeededPasscode(of profile: String) async throws(ServiceError) {
        let seal = seal
        if let needed = try await database.read({ try Self.lostItems(of: profile, $0, seal).error }) {
            throw needed
        }
    }

    /// Returns the items that would be lost without the passcode, and an error that lists them along with keychain
    /// items.
    private static func lostItems(
        of profile: String,
        _ db: Database,
        _ seal: RowMAC
    ) throws -> (items: [ItemID], error: ServiceError?) {
        let lost = try ItemRow.all(of: profile, db, seal).filter(\.isLostWithoutPasscode).map(\.id)
        let bound = try PasscodeBoundItems.count(of: profile, db)
        let names = lost.map(\.spoken) + (bound > 0 ? ["\(bound) of the keychain's items"] : [])
        return (
            lost,
            names.isEmpty
                ? nil
                : ServiceError(.passcodeNeeded, profile, details: [.items: names.joined(separator: "\n")])
        )
    }

    /// Returns the items that would be lost without the passcode.
    ///
    /// - Throws: A storage error.
    package func itemsLostWithoutPasscode(of profile: String) async throws(ServiceError) -> [ItemID] {
        let seal = seal
        return try await database.read { db in
            try ItemRow.all(of: profile, db, seal).filter(\.isLostWithoutPasscode).map(\.id)
        }
    }

    /// Returns a row for a passcode that is set at the current time.
    private func passcodeRow(
        _ object: TPMObject,
        _ derivation: PasscodeDerivation,
        of profile: String
    ) -> PasscodeRow {
        let setAt = time.now().date.timeIntervalSince1970
        return PasscodeRow(profile: profile, object: object, derivation: derivation, setAt: setAt)
    }

    /// Returns the row of the passcode in a proof, if it is still the current one.
    private func shownPasscode(
        _ proof: OwnerProof
    ) async throws(ServiceError) -> (PasscodeRow, OwnerProof.ShownPasscode) {
        guard let shown = proof.passcode else {
            throw ServiceError(.accessDenied, proof.profile, cause: "the proof does not include the passcode")
        }
        guard let row = try await passcode(of: proof.profile) else {
            throw ServiceError(.passcodeNotSet, proof.profile)
        }
        guard row.object == shown.object else {
            throw ServiceError(.passcodeWrong, proof.profile, cause: "another program changed the passcode")
        }
        return (row, shown)
    }

    func passcode(of profile: String) async throws(ServiceError) -> PasscodeRow? {
        let seal = seal
        return try await database.read { try PasscodeRow.read(profile, $0, seal) }
    }
}

extension ItemRow.Reading {
    /// Whether the item is lost without the passcode.
    ///
    /// A damaged item is not counted, because it cannot be unlocked anyway.
    fileprivate var isLostWithoutPasscode: Bool {
        switch self {
        case .sound(let row): row.access.isLostWithoutPasscode
        case .tampered: false
        }
    }
}
