// SPDX-License-Identifier: Apache-2.0

import WhorlContext
import FacesOverSocket
import WhorlEngine
import WhorlFingerprint
import LocalAuthentication
import Synchronization
import WhorlService

/// A prompt that remembers what it showed, and presses a button as soon as a finger is asked for.
final class TestPresenter: PromptPresenter {
    private let button: PromptAction?
    private let shown = Mutex<[Prompt]>([])

    init(pressing button: PromptAction? = nil) { self.button = button }

    var prompts: [Prompt] { shown.withLock { $0 } }

    var isInteractive: Bool {
        get async { true }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        shown.withLock { $0.append(prompt) }
        for await update in entry.updates where update == .scan(.touch) {
            if let button { return button }
        }
        return nil
    }
}

extension LAContext {
    /// A context on a machine.
    static func on(_ machine: Machine, _ presenter: TestPresenter = TestPresenter()) -> LAContext {
        let parts = ContextParts(
            asker: machine.handlers,
            presenter: presenter,
            application: ApplicationID(rawValue: "org.example.test")
        ).asTested
        return ContextParts.$ofTask.withValue(parts) { LAContext() }
    }

    /// What `canEvaluatePolicy` says: `nil` for true, else the error's number.
    func check(_ policy: LAPolicy) -> Int? {
        var error: NSError? = NSError(domain: "stale", code: 77)
        let answer = canEvaluatePolicy(policy, error: &error)
        return answer == (error == nil) ? error?.code : 9999
    }

    /// How the reply form ends: `nil` for success, else the error's number.
    func reply(_ policy: LAPolicy, reason: String = "open the test") async -> Int? {
        await withCheckedContinuation { continuation in
            evaluatePolicy(policy, localizedReason: reason) { success, error in
                let isConsistent = success == (error == nil) && (success || error is LAError)
                continuation.resume(returning: isConsistent ? (error as NSError?)?.code : 9999)
            }
        }
    }

    /// How the async form ends: `nil` for success, else the error's number.
    func outcome(_ policy: LAPolicy, reason: String = "open the test") async -> Int? {
        do {
            return try await evaluatePolicy(policy, localizedReason: reason) ? nil : 9999
        } catch let error as LAError {
            return error.errorCode
        } catch {
            return 9999
        }
    }
}
