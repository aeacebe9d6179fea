// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import BiometricLogin
import WhorlFingerprint
import SoftwareMachine
import SoftwareTPM
import Synchronization
import WhorlVault
import WhorlService
import WhorlSystem

/// A machine with a TPM of its own and a reader on which the enrolled finger is laid whenever it asks.
final class Machine: Sendable {
    let tpm: SoftwareTPM
    let services: InProcessRoot
    let parts: ContextParts
    let prompts = Prompts()

    init(reader: String = "mock:then=match", tpm: SoftwareTPM? = nil) async throws {
        let tpm = try tpm ?? SoftwareTPM()
        let services = InProcessRoot(on: tpm, reader: reader)
        self.tpm = tpm
        self.services = services
        parts =
            ContextParts(
                asker: services.services,
                presenter: prompts,
                application: services.application,
                keychain: services.services.keychain
            ).asTested
        try await services.enroll(.leftIndex)
    }

    func setPasscode(_ passcode: String) async throws {
        try await services.vault().setPasscode(
            secret(passcode),
            of: services.profile,
            shown: .matchedFinger(of: services.profile)
        )
    }
}

/// Prompts that are counted; a passcode is typed where one was given, and else the finger alone counts.
final class Prompts: PromptPresenter {
    private let state = Mutex<(count: Int, passcode: String?)>((0, nil))

    var count: Int { state.withLock(\.count) }
    func answer(with passcode: String) { state.withLock { $0.passcode = passcode } }

    var isInteractive: Bool { get async { true } }
    var takesPasscode: Bool { get async { state.withLock { $0.passcode != nil } } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let passcode = state.withLock { state in
            state.count += 1
            return state.passcode ?? ""
        }
        _ = entry.submit(secret(passcode).copied)
        for await _ in entry.updates {}
        return nil
    }
}

extension SecretBox {
    fileprivate var copied: SecretBytes { bytes.withBytes { SecretBytes(copying: $0) } }
}
