// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import WhorlVault
import WhorlService

/// What a finger releases.
enum Product: String, CaseIterable {
    case signature, secret
}

/// Whorl as a program uses it: a vault on a software TPM, with a key and a secret for each access control.
struct Subject {
    static let accesses = [
        "biometry-any", "biometry-current-set", "user-presence", "biometry-current-set-or-passcode",
    ]
    private static let profile = "ada"

    let tpm: SoftwareTPM
    private let directory: StateDirectory

    init(directory path: String) async throws {
        tpm = try SoftwareTPM()
        directory = StateDirectory(path: path)
        let (vault, device) = try open()
        let passcode = SecretBox(SecretBytes(randomCount: 8))
        try await vault.setPasscode(passcode, of: Self.profile)
        let generation = try await vault.generation(of: Self.profile, stored: 0)
        try await vault.advance(Self.profile, to: generation + 1)
        for access in Self.accesses {
            try await vault.createKey(Self.item(.signature, access), access: AccessControl(access))
            let secret = SecretBox(SecretBytes(randomCount: 32))
            try await vault.add(secret, as: Self.item(.secret, access), access: AccessControl(access))
        }
        await device.close()
    }

    /// The vault as a new process opens it.
    ///
    /// A turn of ten minutes: nobody else wants the slots of this TPM, and a pause for others is not what is measured.
    func open(recording: Bool = false) throws -> (vault: Vault, device: TPMDevice) {
        let address = try TPMAddress((recording ? "pcap:" : "") + tpm.address)
        let device = TPMDevice(address, turn: .seconds(600))
        return (Vault(device: device, database: try StateDatabase(directory: directory)), device)
    }

    /// What happens after a match, until the signature or the secret is there.
    func release(_ product: Product, _ access: String, from vault: Vault) async throws {
        let proof = OwnerProof.matchedFinger(of: Self.profile)
        let item = try Self.item(product, access)
        switch product {
        case .signature: _ = try await vault.sign(digest: Self.digest, with: item, shown: proof)
        case .secret: _ = try await vault.secret(item, shown: proof)
        }
    }

    private static let digest = Data(repeating: 7, count: 32)

    private static func item(_ product: Product, _ access: String) throws -> ItemID {
        ItemID(product == .signature ? .key : .secret, try ItemName(access), of: profile)
    }
}
