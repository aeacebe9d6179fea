// SPDX-License-Identifier: Apache-2.0

import MainThread
package import WhorlService

/// A presenter that shows a prompt in a window.
///
/// Only the service's updates determine how the prompt ended.
package final class WindowPresenter: PromptPresenter {
    private enum End: Sendable {
        case updates
        case button(PromptAction?)
    }

    private let refusals = Refusals()
    private let isForOthers: Bool

    /// Creates a presenter.
    ///
    /// - Parameter isForOthers: Whether it shows the prompts of other programs, which the user can refuse.
    package init(isForOthers: Bool = true) { self.isForOthers = isForOthers }

    /// Whether the user has refused any program.
    package var hasRefused: Bool { refusals.hasAny }

    package var isInteractive: Bool {
        get async { true }
    }

    package var takesPasscode: Bool {
        get async { true }
    }

    package func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let program = prompt.program
        guard let count = isForOthers ? refusals.admit(program) : 1 else { return .cancel }
        let (actions, sink) = AsyncStream.makeStream(of: PromptWindow.Press.self)
        onMainThread { PromptWindow.open(PromptContent(prompt, count: count), entry) { sink.yield($0) } }
        let refusals = refusals
        let action = await withTaskGroup(of: End.self) { group in
            group.addTask {
                for await update in entry.updates { onMainThread { PromptWindow.shown?.apply(update) } }
                return .updates
            }
            group.addTask {
                for await press in actions {
                    switch press {
                    case .cancel: return .button(.cancel)
                    case .fallback: return .button(.fallback)
                    case .refuse:
                        refusals.refuse(program)
                        return .button(.cancel)
                    }
                }
                return .button(nil)
            }
            let first = await group.next()
            group.cancelAll()
            guard case .button(let action)? = first else { return PromptAction?.none }
            return action
        }
        sink.finish()
        onMainThread { PromptWindow.close(afterMessage: action == nil) }
        return action
    }
}
