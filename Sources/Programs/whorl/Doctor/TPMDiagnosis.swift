// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// The checks of the TPM and of how the state directory uses it.
///
/// They change neither of the two.
struct TPMDiagnosis: Sendable {
    let session: Session

    func checks() async -> [Check] {
        let status: VaultStatus
        do throws(ServiceError) {
            status = try await session.services.ask(ReadVaultStatus())
        } catch {
            return [.bad("TPM", Failure(error))]
        }
        let facts = await session.services.facts()
        guard let chip = status.chip else { return [unreachable(status, facts)] }
        return [
            .good("TPM", "\(facts.tpmName): \(chip.manufacturer), firmware \(chip.firmware)."),
            status.isSimulated ? .note("simulated TPM", "\(facts.tpmName) is simulated.") : nil,
            vault(status), storageRoot(status), counters(chip), lockout(chip), owner(status, chip),
            lockoutAuthorization(chip),
        ].compactMap(\.self)
    }

    /// Returns the check for a TPM that cannot be reached.
    ///
    /// Passcodes, secrets, keys, and data protected by the TPM are then not available; everything else works.
    private func unreachable(_ status: VaultStatus, _ facts: MaintenanceFacts) -> Check {
        let failure = Failure(status.obstacle ?? ServiceError(.noChip))
        let loss = "The prints are protected by a file; passcodes, secrets and keys are not available."
        guard !facts.isWithoutTPM || status.isProvisioned else {
            return .note("TPM", "Disabled. \(loss)")
        }
        let (detail, remedy) = facts.deviceTrouble ?? (failure.message, failure.recovery)
        if status.isProvisioned {
            return .bad("TPM", detail + " Data stored with it cannot be read.", remedy: remedy)
        }
        // A named TPM must be available; no other one replaces it.
        if facts.isTPMNamed {
            return .bad("TPM", detail, remedy: failure.recovery)
        }
        return .note("TPM", "\(detail) \(loss)", remedy: remedy)
    }

    private func vault(_ status: VaultStatus) -> Check {
        guard status.isProvisioned else {
            return .note(
                "vault",
                "Not used for this directory.",
                remedy: status.stateKey == .none ? nil : "whorl vault provision"
            )
        }
        guard status.isSameChip != false else { return .bad("vault", Failure(ServiceError(.chipCleared))) }
        switch status.stateKey {
        case .sealed: return .good("vault", "The directory's key is sealed in the TPM.")
        case .none, .file, .both:
            return .note(
                "vault",
                "It is set up; the directory's key is \(status.stateKeyWords).",
                remedy: "whorl vault provision"
            )
        }
    }

    private func storageRoot(_ status: VaultStatus) -> Check? {
        guard let handle = status.storageRoot, status.isSameChip == true else { return nil }
        return .good(
            "storage root",
            "\(VaultStatus.handle(handle)) is the key the vault was created with."
        )
    }

    private func counters(_ chip: ChipStatus) -> Check? {
        guard let used = chip.counters else { return nil }
        let free = chip.countersFree.map { ", \($0) free" } ?? ""
        return .note("counters", "\(used) in use\(free); each profile with fingers needs one.")
    }

    private func lockout(_ chip: ChipStatus) -> Check {
        guard !chip.inLockout else { return .bad("TPM lockout", Failure(ServiceError(.chipLockedOut))) }
        guard chip.recoverySeconds > 0, chip.failureLimit > 0 else {
            return .warning(
                "TPM lockout",
                "The TPM's dictionary attack protection is off: it does not count wrong passcodes, so only Whorl's own delays slow down "
                    + "guessing.",
                remedy: "tpm2_dictionarylockout --setup-parameters --max-tries=31 --recovery-time=600 "
                    + "--lockout-recovery-time=86400"
            )
        }
        let count = "\(chip.failures) of \(chip.failureLimit) wrong authorizations"
        let recovery = "; the count drops by one every \(chip.recoverySeconds) seconds"
        return .good("TPM lockout", count + recovery + ".")
    }

    private func owner(_ status: VaultStatus, _ chip: ChipStatus) -> Check? {
        guard chip.ownerAuthSet else { return .note("TPM owner", "Its authorization is empty, as usual.") }
        guard !status.isProvisioned else {
            return .note(
                "TPM owner",
                "Its authorization is set. Creating counters or a vault requires an empty one."
            )
        }
        return .bad("TPM owner", Failure(ServiceError(.ownerAuthorizationNeeded)))
    }

    private func lockoutAuthorization(_ chip: ChipStatus) -> Check {
        guard !chip.lockoutAuthSet else { return .good("TPM lockout authorization", "It is set.") }
        return .warning(
            "TPM lockout authorization",
            "It is empty: any program that can use the TPM, and anyone who boots this machine from another disk, "
                + "can reset its count of wrong passcodes and so guess a short one.",
            remedy: "tpm2_changeauth -c lockout NEW"
        )
    }
}

extension MaintenanceFacts {
    /// The TPM's name, as specified by the user.
    fileprivate var tpmName: String { DisplayText.clean(tpmAddress, limit: 60) }
    /// The reason why this user cannot open the device, and the fix; `nil` if the TPM is not a device or can be opened.
    fileprivate var deviceTrouble: (detail: String, remedy: String)? {
        guard tpmAddress.hasPrefix("device:") else { return nil }
        let node = String(tpmAddress.dropFirst("device:".count))
        let shown = DisplayText.clean(node, limit: 60)
        guard access(node, F_OK) == 0 else {
            return (
                "\(shown) not found.", "If the machine has a TPM, enable it in the firmware settings."
            )
        }
        guard access(node, R_OK | W_OK) == 0 else {
            return (
                "You are not allowed to open \(shown).",
                "sudo usermod -aG tss \"$USER\", then log in again"
            )
        }
        return nil
    }
    /// Whether the user disabled the TPM explicitly.
    fileprivate var isWithoutTPM: Bool { tpmAddress == "none" }
}
