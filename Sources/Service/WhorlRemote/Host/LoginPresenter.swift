// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// The presenter of a login: it tells the program that asks what to show, and takes nothing from it.
struct LoginPresenter: PromptPresenter {
    private let call: ServiceCall

    init(_ call: ServiceCall) { self.call = call }

    /// A program that takes no updates shows nothing, and so lets no one know of the prompt.
    var isInteractive: Bool { get async { call.wantsMore } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            guard !update.isEnd, let message = prompt.message(for: update) else { continue }
            call.update(LoginInterface.Answer(message: message))
        }
        return nil
    }
}

extension PromptUpdate {
    /// Whether the reply says the same.
    fileprivate var isEnd: Bool {
        switch self {
        case .matched, .verified, .ended: true
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .checking, .wrongPasscode, .throttled,
            .passcodeEnded:
            false
        }
    }
}
