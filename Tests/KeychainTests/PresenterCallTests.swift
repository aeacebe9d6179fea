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

    @Test(.timeLimit(.minutes(2)))
    func `a presenter that waits for the thread that the call blocks does not keep the finger out`()
        async throws
    {
        let machine = try await RealMachine()
        try await machine.run {
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control(.biometryAny), kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(generic("kept", item), nil) == errSecSuccess)
            let presenter = WaitingPresenter()
            let context = LAContext()
            context.promptPresenter = presenter
            #expect(value("kept", [kSecUseAuthenticationContext: context]) == Data("v".utf8))
            presenter.threadIsFree()
        }
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

/// A presenter that shows its prompt on a thread which is free after the call alone, as the main thread of a program that
/// calls from it.
private final class WaitingPresenter: PromptPresenter {
    private let freed = AsyncStream<Void>.makeStream()
    var isInteractive: Bool { get async { true } }

    func threadIsFree() { freed.continuation.finish() }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        // A task of its own, which no cancellation reaches: so does a thread that is waited for.
        await Task { for await _ in freed.stream {} }.value
        return nil
    }
}
