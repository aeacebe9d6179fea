// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
package import WhorlFingerprint
import Foundation
package import SoftwareTPM
import WhorlService
package import WhorlSystem

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
