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
        abstract: "Shows the prompts of this session's programs on this terminal, until ^C.",
        discussion: """
            The system's service then asks here, whatever program wants a finger or the passcode; what is typed here \
            goes to the service alone. One agent shows the prompts of a session. Example:

              whorl agent
            """
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        guard session.place == .system else {
            throw Failure.usage(
                "Only the system's service has agents, and another place is chosen.",
                hint: "Enable it: sudo systemctl enable --now whorld.socket"
            )
        }
        let prompt = TerminalPrompt.onStandardError()
        guard await prompt.isInteractive else {
            throw ServiceError(
                .notInteractive,
                message: "There is no terminal here on which prompts could be shown.",
                recovery: "Run it in the foreground of a terminal."
            )
        }
        return try await show(on: prompt, session.console)
    }

    /// Shows prompts, also after the service was restarted.
    private func show(on prompt: TerminalPrompt, _ console: Console) async throws -> Answer {
        let hasBegun = Atomic(false)
        while true {
            do throws(ServiceError) {
                try await ServicePlace.showPrompts(on: prompt) {
                    hasBegun.store(true, ordering: .relaxed)
                    console.event(["event": "registered"])
                    console.tell("The prompts of this session's programs are shown here; ^C ends that.")
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
