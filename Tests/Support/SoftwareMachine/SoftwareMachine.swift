// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
package import WhorlEnrollment
package import WhorlFingerprint
import Foundation
package import SoftwareTPM
package import WhorlService
package import WhorlSystem
package import WhorlVault

/// A machine as programs have it, with a TPM of its own and a reader that a script makes.
extension InProcessRoot {
    /// The services of a machine whose state lies beside its TPM's.
    ///
    /// - Parameters:
    ///   - tpm: The chip, which the caller keeps alive.
    ///   - profile: Whose fingers are asked for.
    ///   - application: Which program asks.
    ///   - reader: By itself one on which the enrolled finger is laid whenever it asks.
    package convenience init(
        on tpm: SoftwareTPM,
        profile: String = "ada",
        application: String = "org.example.app",
        reader: String = "mock:then=match"
    ) {
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = tpm.directory.path + "/whorl"
        configuration.profile = profile
        configuration.reader = reader
        configuration.tpm = tpm.address
        configuration.allowsSimulatedTPM = true
        configuration.application = ApplicationID(rawValue: application)
        self.init(configuration)
    }

    /// Returns the vault, which is created if nothing was ever stored.
    package func vault() async throws(ServiceError) -> Vault { try await engine.vault.createdVault() }

    /// Returns the store, which is made if it does not exist.
    package func store() async throws(ServiceError) -> EnrollmentStore {
        engine.state.store(on: try await engine.state.created())
    }

    /// Returns an enroller; the store is made if it does not exist.
    package func enroller() async throws(ServiceError) -> FingerEnroller {
        engine.enroller(try await store(), for: application)
    }

    /// Adds a finger, as `whorl enroll` does it in a process of its own.
    package func enroll(_ finger: Finger) async throws {
        let store = try await store()
        _ = try await store.add(
            Template(bytes: Array("mock:\(finger.rawValue)#1".utf8)),
            as: finger,
            label: nil,
            profile: self.profile,
            on: try await services.readers.chosenReader().info,
            at: Date(),
            // The owner agrees.
            consent: OwnerConsent(
                to: .add(finger),
                in: try await store.status(of: self.profile),
                by: .passcode
            )
        )
    }
}
