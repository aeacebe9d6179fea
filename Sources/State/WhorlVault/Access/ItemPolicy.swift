// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlTPM
import WhorlService

/// The chip's policy for an access control.
///
/// | way | policy |
/// |---|---|
/// | nothing to show, or any finger | PolicySecret(authority) |
/// | a finger of the present set | PolicySecret(authority) ∧ PolicyNV(counter == value) |
/// | passcode | PolicySecret(passcode) |
/// | several ways | PolicyOR of them, those with the passcode instead of boot measurements first |
/// | bound to boot | … ∧ PolicyPCR in each way that does not take the passcode instead |
/// | application password | … ∧ PolicyAuthValue |
enum ItemPolicy {
    /// The policy; `nil` when the binding lacks what the access control needs.
    static func policy(_ access: AccessControl, _ binding: ItemBinding, authority: TPMName) -> TPMPolicy? {
        var branches: [TPMPolicy] = []
        for way in access.waysInChip {
            guard let steps = steps(of: way, access, binding, authority: authority) else { return nil }
            branches.append(steps.count == 1 ? steps[0] : .all(steps))
        }
        guard let first = branches.first else { return nil }
        let whole = branches.count == 1 ? first : .any(branches)
        return access.needsApplicationPassword ? .all([whole, .authValue]) : whole
    }

    private static func steps(
        of way: AccessWay,
        _ access: AccessControl,
        _ binding: ItemBinding,
        authority: TPMName
    ) -> [TPMPolicy]? {
        var steps: [TPMPolicy] = []
        if needsAuthority(way) { steps.append(.secret(of: authority)) }
        if way.contains(.biometryCurrentSet) {
            guard let generation = binding.generation else { return nil }
            steps.append(.counter(generation.counter, equals: generation.value))
        }
        if way.contains(.devicePasscode) {
            guard let passcode = binding.passcode else { return nil }
            steps.append(.secret(of: passcode))
        }
        if way.contains(.measuredBoot) {
            guard let boot = binding.boot, let selection = try? access.pcrs?.selection else { return nil }
            steps.append(.pcrs(selection, digest: [UInt8](boot)))
        }
        return steps
    }

    /// Whether a way needs the authority; a way without any proof needs it too, since a blob alone must not open.
    static func needsAuthority(_ way: AccessWay) -> Bool {
        way.needsBiometry || !way.contains(.devicePasscode)
    }
}

extension BootRegisters {
    /// The registers in the form that the TPM layer takes.
    var selection: PCRSelection {
        get throws(TPMError) { try PCRSelection(Set(registers)) }
    }
}
