// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Synchronization
import WhorlTerminalPrompt
import WhorlRemote
import WhorlService
import WhorlSupport

/// The command `whorl agent`.
struct Agent: Verb {
    static let asks = Asked.systemService
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Show authentication prompts for this session in this terminal",
        discussion: """
            Until you press Ctrl-C, the system service shows its prompts here, whichever program asks for a touch or the passcode. \
            What you type goes to the service only. A session has one agent at a time. Example:

              whorl agent
            """
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        guard session.place == .system else {
            throw Failure.usage(
                "Agents require the system service, which is not in use.",
                hint: "Enable it: sudo systemctl enable --now whorld.socket"
            )
        }
        let prompt = TerminalPrompt.onStandardError()
        guard await prompt.isInteractive else {
            throw ServiceError(
                .notInteractive,
                message: "No terminal to show prompts in.",
                recovery: "Run it in the foreground, in a terminal."
            )
        }
        return try await show(on: prompt, session.console)
    }

    /// Shows prompts, and continues to do so after the service is restarted.
    private func show(on prompt: TerminalPrompt, _ console: Console) async throws -> Answer {
        let hasBegun = Atomic(false)
        while true {
            do throws(ServiceError) {
                try await ServicePlace.showPrompts(on: prompt) {
                    hasBegun.store(true, ordering: .relaxed)
                    console.event(["event": "registered"])
                    console.tell("Showing this session's authentication prompts. Press Ctrl-C to stop.")
                }
            } catch {
                switch error.code {
                case .appCancel: return Answer(result: ["ended": true], text: [])
                case .serviceUnavailable where hasBegun.load(ordering: .relaxed):
                    _ = await OffPoolTimer.wait(.seconds(1))
                default: throw error
                }
            }
        }
    }
}
