// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

/// A TPM of a test's own, with what most tests need on it.
struct Bench: Sendable {
    let chip: SoftwareTPM
    let device: TPMDevice
    let root: StorageRoot
    let auth = SecretBox(SecretBytes(randomCount: 32))
    let authority: TPMObject

    /// Provisions a new TPM: storage root and authority.
    ///
    /// The connection stays open between two sequences however slow the machine is, so that their commands can be counted.
    init(
        through address: String? = nil,
        chip: SoftwareTPM? = nil,
        idle: Duration = .seconds(3600),
        turn: Duration = .seconds(600)
    ) async throws {
        let chip = try chip ?? SoftwareTPM()
        self.chip = chip
        device = TPMDevice(try TPMAddress(address ?? chip.address), uncut: idle, turn: turn)
        root = try await device.perform { tpm throws(TPMError) in try tpm.findOrMakeStorageRoot() }
        let (root, auth) = (root, auth)
        authority = try await device.perform { tpm throws(TPMError) in
            try tpm.createAuthority(under: root, auth: auth, dictionaryAttack: false)
        }
    }

    /// Has the authority's value.
    var credentials: Credentials {
        var credentials = Credentials()
        credentials.add(authority, auth: auth)
        return credentials
    }

    var policy: TPMPolicy { .secret(of: authority.name) }

    /// Runs commands, tells of what they leave behind, and returns their value.
    func run<Value: Sendable>(
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) async throws(TPMError) -> Value {
        try await device.perform(body)
    }

    /// Closes the connection and sees that nothing is left in the TPM.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        await device.close()
        #expect(try chip.leaks() == [], sourceLocation: sourceLocation)
    }
}

/// A secret of these bytes.
func secret(_ bytes: [UInt8]) -> SecretBox { SecretBox(SecretBytes(copying: bytes.span.bytes)) }

extension SecretBytes {
    /// A copy that a test may look at.
    var copy: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// The error that `body` throws.
func failure<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    of body: () async throws(TPMError) -> Value
) async throws -> TPMError {
    do throws(TPMError) {
        _ = try await body()
    } catch {
        return error
    }
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    throw NothingThrown()
}

struct NothingThrown: Error {}
