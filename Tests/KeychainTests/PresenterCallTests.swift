// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Foundation
import KeychainServices
import LocalAuthentication
import LocalAuthenticationPrompts
import Synchronization
import Testing
import WhorlService

/// What becomes of a keychain call that is made while a prompt is shown.
@Suite struct `Calls from a presenter` {
    @Test(.timeLimit(.minutes(2)))
    func `a presenter that reads a guarded item is told that it cannot, and its prompt goes on`() async throws
    {
        let machine = try await RealMachine()
        let presenter = ReadingPresenter()
        try await machine.run {
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control(.biometryAny), kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("kept", item), nil) == errSecSuccess)
            let context = LAContext()
            context.promptPresenter = presenter
            #expect(value("kept", [kSecUseAuthenticationContext: context]) == Data("v".utf8))
        }
        #expect(presenter.statuses == [errSecInteractionNotAllowed])
    }
}

/// Reads a guarded item while it shows its prompt.
private final class ReadingPresenter: PromptPresenter {
    private let found = Mutex<[OSStatus]>([])

    var statuses: [OSStatus] { found.withLock(\.self) }
    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let status = find(generic("kept", [kSecReturnData: true])).status
        found.withLock { $0.append(status) }
        for await _ in entry.updates {}
        return nil
    }
}
