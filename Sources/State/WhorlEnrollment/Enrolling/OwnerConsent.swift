// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
package import WhorlService

/// The owner's consent to one change to the enrolled fingers.
///
/// Only the engine in `WhorlEngine` creates a consent, after an enrolled finger matched or the passcode was verified.
/// For a program that cannot show a prompt for either, the system's rules must have allowed the change.
///
/// A consent is valid for one change to one profile, in the state that the fingers had before the owner was prompted.
/// The transaction that makes the change checks all of these. Every change creates a new state, so a consent cannot be
/// used twice.
package struct OwnerConsent: Sendable {
    /// A change that requires the owner's consent.
    package typealias Change = FingerChange

    /// The method that authenticated the owner.
    package enum Proof: Sendable, Hashable {
        /// An enrolled finger touched the reader.
        case finger
        /// The passcode was verified.
        case passcode
        /// The system's rules allowed the change, for example after the account's password was entered.
        case account
        /// The system's rules allowed someone else to enroll the first finger, which requires that nothing is stored.
        case administrator
    }

    let profile: String
    let change: Change
    let state: FingersState
    let proof: Proof

    /// Records that the owner agreed to a change.
    ///
    /// - Parameters:
    ///   - change: The change that the owner agreed to.
    ///   - status: The state of the fingers before the owner was prompted.
    ///   - proof: The method that authenticated the owner.
    package init(to change: Change, in status: EnrollmentStatus, by proof: Proof) {
        profile = status.profile
        self.change = change
        state = status.state
        self.proof = proof
    }
}

/// The state of a profile's fingers and the proof that a change to them requires.
package struct EnrollmentStatus: Sendable {
    /// The profile that the fingers belong to.
    package let profile: String
    /// The reason why the set cannot be trusted (`enrollmentTampered`, `enrollmentRolledBack` or `readerWasOpen`), or
    /// `nil` if it can.
    package let fault: ServiceError?
    /// The enrolled fingers whose templates this machine sealed, even if the set is not trusted.
    package let fingers: [EnrolledFinger]
    package let isPasscodeSet: Bool
    let state: FingersState

    /// The proof that a change requires.
    package enum Need: Sendable, Hashable {
        /// No proof is required, because no finger can identify the owner and no passcode is set.
        case nothing
        /// An enrolled finger or the passcode is required.
        case fingerOrPasscode
        /// The passcode is required, because the fingers cannot be trusted.
        case passcode
    }

    /// Whether any finger is enrolled, even if it cannot be compared.
    package let hasFingers: Bool

    /// The proof that a change to these fingers requires.
    package var need: Need {
        Need(isTrusted: fault == nil, hasFingers: hasFingers, isPasscodeSet: isPasscodeSet)
    }
}

extension EnrollmentStatus.Need {
    init(isTrusted: Bool, hasFingers: Bool, isPasscodeSet: Bool) {
        if isTrusted {
            self = hasFingers || isPasscodeSet ? .fingerOrPasscode : .nothing
        } else {
            self = isPasscodeSet ? .passcode : .nothing
        }
    }
}

/// The state that a consent is bound to, which consists of the set, its MAC, and the templates that can be decrypted.
struct FingersState: Sendable, Hashable {
    let set: EnrollmentSet
    let mac: Data?
    let opening: [PrintID]

    init(_ manifest: Manifest, _ seal: TemplateCipher) {
        set = manifest.set
        // The row of a profile that never had a finger comes and goes with enrollment intents.
        mac = manifest.generation == 0 && manifest.prints.isEmpty ? nil : manifest.head.mac
        opening = manifest.prints.filter(seal.opens).map(\.id)
    }
}

extension EnrollmentStore {
    /// Returns the current state of a profile's fingers.
    ///
    /// - Throws: A storage error. A set that cannot be trusted is not an error. It is returned together with its fault.
    package func status(of profile: String) async throws(ServiceError) -> EnrollmentStatus {
        var fault: ServiceError?
        do throws(ServiceError) {
            _ = try await snapshot(of: profile)
        } catch {
            guard error.isDistrust else { throw error }
            fault = error
        }
        let seal = templateSeal
        let (manifest, hasFingers, isPasscodeSet) = try await database.read { db in
            (
                try Manifest(db, profile: profile), try OwnerFingers.areEnrolled(of: profile, db),
                try OwnerPasscode.isSet(of: profile, db)
            )
        }
        return EnrollmentStatus(
            profile: profile,
            fault: fault,
            fingers: manifest.prints.filter(seal.opens).map(\.enrolledFinger),
            isPasscodeSet: isPasscodeSet,
            state: FingersState(manifest, seal),
            hasFingers: hasFingers
        )
    }

    /// Returns the error that prevents a change, or `nil` if the owner agreed to it or does not have to agree.
    ///
    /// - Parameters:
    ///   - change: The change to make.
    ///   - consent: The owner's consent, if any.
    ///   - now: The state of the fingers in the caller's transaction.
    ///   - isTrusted: Whether these fingers can identify the owner.
    ///   - db: The caller's transaction.
    /// - Returns: `ownerNeeded`, `changedMeanwhile`, or `nil`.
    /// - Throws: The database's error.
    func refusal(
        of change: OwnerConsent.Change,
        by consent: OwnerConsent?,
        _ now: Manifest,
        isTrusted: Bool,
        _ db: Database
    ) throws -> ServiceError? {
        let need = EnrollmentStatus.Need(
            isTrusted: isTrusted,
            hasFingers: !now.prints.isEmpty,
            isPasscodeSet: try OwnerPasscode.isSet(of: now.profile, db)
        )
        guard let consent else { return need == .nothing ? nil : ServiceError(.ownerNeeded) }
        guard consent.profile == now.profile, consent.change == change,
            need != .passcode || consent.proof == .passcode
        else { return ServiceError(.ownerNeeded) }
        if consent.proof == .administrator, try need != .nothing || OwnerItems.exist(of: now.profile, db) {
            return .isUsed(now.profile)
        }
        guard consent.state == FingersState(now, templateSeal) else {
            return ServiceError(.changedMeanwhile)
        }
        return nil
    }

    /// Rejects a change early, before a reader is used.
    ///
    /// The change itself checks the consent again.
    package func requireConsent(
        to change: OwnerConsent.Change,
        by consent: OwnerConsent?,
        of profile: String
    ) async throws(ServiceError) {
        let refusal = try await database.read { db in
            try self.refusal(of: change, by: consent, Manifest(db, profile: profile), isTrusted: true, db)
        }
        if let refusal { throw refusal }
    }
}

extension ServiceError {
    /// The error for an account for which no one else can enroll a finger.
    fileprivate static func isUsed(_ profile: String) -> ServiceError {
        ServiceError(
            .ownerNeeded,
            profile,
            message: "This account already has a finger, a passcode or an item.",
            recovery: "Its user can run `whorl enroll`.",
            cause: "another user can only enroll the first finger"
        )
    }
}
