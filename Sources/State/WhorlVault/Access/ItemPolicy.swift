// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlStateStore
import WhorlService
import WhorlSupport
import WhorlTPM

/// The TPM policy that corresponds to an access control.
///
/// | way | policy |
/// |---|---|
/// | no proof, or any finger | PolicySecret(authority) |
/// | a finger of the current set | PolicySecret(authority) ∧ PolicyNV(counter == value) |
/// | passcode | PolicySecret(passcode) |
/// | several ways | PolicyOR of them, those with the passcode instead of boot measurements first |
/// | bound to boot | … ∧ PolicyPCR in each way that does not use the passcode instead |
/// | application password | … ∧ PolicyAuthValue |
enum ItemPolicy {
    /// Returns the policy, or `nil` if the binding lacks an object that the access control needs.
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

    /// Returns whether a way to unlock an item requires the authority.
    ///
    /// A way without any proof also requires it, because the blob alone must not be sufficient.
    static func needsAuthority(_ way: AccessWay) -> Bool {
        way.needsBiometry || !way.contains(.devicePasscode)
    }
}

extension BootRegisters {
    /// The registers in the form used by the TPM layer.
    var selection: PCRSelection {
        get throws(TPMError) { try PCRSelection(Set(registers)) }
    }
}

/// The objects that an item's policy refers to in addition to the authority.
///
/// They are determined when the item is created, stored with it, and covered by its MAC.
struct ItemBinding: Sendable, Hashable {
    /// The counter of the profile's fingers and its required value, if a way requires the current set of fingers.
    var generation: Generation?
    /// The name of the passcode's object (34 bytes), if a way requires the passcode.
    var passcode: TPMName?
    /// The digest of the boot measurements (32 bytes), if the item is bound to them.
    var boot: Data?
    /// The salt and cost for deriving a value from the application password, if the item requires one.
    var applicationPassword: PasscodeDerivation?

    /// A counter and one of the values it can have.
    struct Generation: Sendable, Hashable {
        let counter: NVCounter
        let value: UInt64
    }

    /// The encoded form, which is the version followed by each part with its size in front.
    ///
    /// A missing part has the size 0.
    var encoded: Data {
        var bytes = ByteWriter(CollectionOfOne(1))
        var counted = ByteWriter()
        if let generation {
            counted.append(generation.value)
            counted.append(raw: generation.counter.serialized)
        }
        bytes.append(sized: counted.bytes)
        bytes.append(sized: Data(passcode?.bytes ?? []))
        bytes.append(sized: boot ?? Data())
        bytes.append(sized: applicationPassword?.encoded ?? Data())
        return Data(bytes.bytes)
    }

    init() {}

    /// Decodes a binding, or returns `nil` for anything that ``encoded`` does not produce.
    init?(encoded: Data) {
        // A counter's serialized form is the largest part.
        guard encoded.count <= 2048 else { return nil }
        var bytes = ByteReader(encoded)
        guard bytes.number(UInt8.self) == 1, let counted = bytes.sized(), let passcode = bytes.sized(),
            let boot = bytes.sized(), let password = bytes.sized(), bytes.isAtEnd
        else { return nil }
        if !counted.isEmpty {
            guard let generation = Generation(encoded: counted) else { return nil }
            self.generation = generation
        }
        if !passcode.isEmpty {
            guard passcode.count == 34 else { return nil }
            self.passcode = TPMName(bytes: [UInt8](passcode))
        }
        if !boot.isEmpty {
            guard boot.count == 32 else { return nil }
            self.boot = boot
        }
        if !password.isEmpty {
            guard let derivation = PasscodeDerivation(encoded: password) else { return nil }
            self.applicationPassword = derivation
        }
    }
}

extension ItemBinding.Generation {
    fileprivate init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        guard let value = bytes.number(UInt64.self), let rest = bytes.take(encoded.count - 8),
            let counter = try? NVCounter(serialized: [UInt8](rest))
        else { return nil }
        self.init(counter: counter, value: value)
    }
}
