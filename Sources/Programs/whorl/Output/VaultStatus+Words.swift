// SPDX-License-Identifier: Apache-2.0

import WhorlService

extension VaultStatus {
    /// The result of `whorl vault status`.
    var json: JSONValue {
        [
            "provisioned": .bool(isProvisioned),
            "stateKey": .string(stateKey.rawValue),
            "storageRoot": storageRoot.map { .string(VaultStatus.handle($0)) },
            "sameChip": isSameChip.map(JSONValue.bool),
            "simulated": .bool(isSimulated),
            "chip": chip.map(VaultStatus.json),
            "problems": .array(
                problems.map { problem in
                    let failure = Failure(problem)
                    return [
                        "code": .string(failure.code), "message": .string(failure.message),
                        "recovery": .string(failure.recovery),
                    ]
                }
            ),
        ]
    }

    private static func json(_ chip: ChipStatus) -> JSONValue {
        [
            "manufacturer": .string(chip.manufacturer), "firmware": .string(chip.firmware),
            "spec": .string(chip.specRevision),
            "ownerAuthSet": .bool(chip.ownerAuthSet), "lockoutAuthSet": .bool(chip.lockoutAuthSet),
            "failures": .integer(chip.failures),
            "limit": .integer(chip.failureLimit),
            "recoverySeconds": .integer(chip.recoverySeconds),
            "inLockout": .bool(chip.inLockout),
            "counters": chip.counters.map(JSONValue.integer),
        ]
    }

    /// The lines of `whorl vault status`.
    var lines: [String] {
        var lines = [
            "TPM: " + (chip.map { "\($0.manufacturer) \($0.vendor), firmware \($0.firmware)" } ?? "none")
                + (isSimulated ? " (simulated)" : ""),
            "vault: " + (isProvisioned ? "provisioned" : "not provisioned"),
            "key: \(stateKeyWords)",
        ]
        if let storageRoot { lines.append("storage root: \(VaultStatus.handle(storageRoot))") }
        if let chip {
            lines.append("wrong passcodes: \(chip.failures) of \(chip.failureLimit)")
        }
        return lines + problems.flatMap { ["problem: \($0.message)", "  → \($0.recovery)"] }
    }

    /// The place of the state key, in words.
    var stateKeyWords: String {
        switch stateKey {
        case .none: "none yet"
        case .file: "in a file that only this user may read"
        case .sealed: "sealed by the TPM"
        case .both: "sealed by the TPM, and still in a file"
        }
    }

    /// Returns a handle in the notation of tpm2-tools.
    static func handle(_ number: UInt32) -> String { "0x" + String(number, radix: 16) }
}
