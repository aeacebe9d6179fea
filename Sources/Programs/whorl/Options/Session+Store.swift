// SPDX-License-Identifier: Apache-2.0

import Authentication
import Enrollment
import StateStore
import Vault
import WhorlSystem

extension Session {
    /// Asks for an enrolled finger, if there is one, before a first passcode is set.
    func proofForFirstPasscode() async throws(Failure) -> OwnerProof? {
        let request = ConsentRequest(application: services.application, timeout: options.patience)
        return try await failing { () async throws(AuthenticationError) in
            try await services.engine.proofForFirstPasscode(request, presenter: presenter(handing: nil))
        }
    }

    /// Returns the store; `nil` when nothing was ever stored.
    func existingStore() async throws(Failure) -> EnrollmentStore? {
        try await failing { () async throws(StateError) in try await services.existingStore() }
    }

    /// Returns an enroller of fingers; makes the store when there is none.
    func enroller() async throws(Failure) -> FingerEnroller {
        try await failing { () async throws(StateError) in try await services.enroller() }
    }

    /// Returns an enroller that removes and accepts fingers; `nil` when nothing was ever stored.
    func existingEnroller() async throws(Failure) -> FingerEnroller? {
        try await failing { () async throws(StateError) in try await services.existingEnroller() }
    }

    /// Asks the owner to agree to a change of the fingers, on the terminal or with the passcode of an open file.
    ///
    /// - Returns: The consent; `nil` if the owner need not be asked.
    func consent(
        to change: OwnerConsent.Change,
        _ passcode: PasscodeOption
    ) async throws(Failure) -> OwnerConsent? {
        let preset = try await passcode.preset()
        let request = ConsentRequest(
            application: services.application,
            timeout: options.patience,
            passcodeAlone: preset != nil
        )
        return try await failing { () async throws(AuthenticationError) in
            try await services.engine.consent(to: change, request, presenter: presenter(handing: preset))
        }
    }
}
