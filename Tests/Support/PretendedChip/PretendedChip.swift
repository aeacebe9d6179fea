// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import LocalAuthenticationTesting
internal import Synchronization
internal import WhorlContext
package import WhorlService

/// A test device whose owner shows what is asked for; a test sees what was asked of its chip, and may have it refused.
package final class PretendedChip: ServiceAsker {
    private struct State {
        var ownerFailure: ServiceError.Code?
        var refusal: ServiceError?
        var requests: [ReleaseRequest] = []
    }

    private let device = TestDevice()
    private let state = Mutex(State())

    package init() { device.otherwise = .match }

    /// Ends each use with an error, as if the owner did not agree; `nil` lets the owner agree again.
    package func fail(with code: ServiceError.Code?) { state.withLock { $0.ownerFailure = code } }

    /// Refuses everything from now on.
    package func refuse(with error: ServiceError) { state.withLock { $0.refusal = error } }

    /// Enrolls another finger.
    package func addFinger() { device.addFinger(.leftThumb) }

    /// How often the owner was asked.
    package var prompts: Int { device.prompts.count }

    /// The requests to use an item, in order.
    package var requests: [ReleaseRequest] { state.withLock(\.requests) }

    /// The environment of a program on the device.
    ///
    /// - Parameters:
    ///   - application: The program's name.
    ///   - keychain: The rows of the keychain; without them there are none.
    ///   - hasChip: Whether the machine says that it has a chip.
    /// - Returns: The environment.
    package func parts(
        of application: String = "org.example.test",
        keychain: (any KeychainRowService)? = nil,
        hasChip: Bool = true
    ) -> ContextParts {
        ContextParts(
            asker: self,
            presenter: device.parts.presenter,
            application: ApplicationID(rawValue: application),
            keychain: keychain,
            hasChip: { hasChip }
        )
    }

    package func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply {
        let failure = state.withLock { state in
            guard state.refusal == nil, let use = operation as? UseItem else { return state.refusal }
            state.requests.append(use.release)
            return state.ownerFailure.map { ServiceError($0) }
        }
        if let failure { throw failure }
        return try await device.parts.answer(operation, prompter)
    }

    package func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try device.parts.sealedItem(encoded: encoded)
    }
}

/// A presenter of a program in which no one is asked.
package struct NoPrompt: PromptPresenter {
    package init() {}

    package var isInteractive: Bool { get async { true } }

    package func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { nil }
}
