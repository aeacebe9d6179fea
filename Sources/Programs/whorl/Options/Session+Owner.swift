// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import TerminalPrompt
import WhorlService

/// The ways in which a command asks the owner.
extension Session {
    /// Returns the prompt: on the terminal, or events for the program that reads them; a known passcode is handed in.
    func presenter(handing passcode: SecretBox?) -> any PromptPresenter {
        let presenter: any PromptPresenter =
            console.isJSON
            ? EventPresenter(console: console)
            : ReportingPresenter(console: console, presenter: TerminalPrompt.onStandardError())
        return passcode.map { PresetPasscode($0, on: presenter) } ?? presenter
    }

    /// Returns a request for the owner's consent; a passcode from an open file is the only thing that is asked for.
    func consentRequest(handing passcode: SecretBox?) -> ConsentRequest {
        ConsentRequest(
            application: services.application,
            timeout: options.patience,
            passcodeAlone: passcode != nil
        )
    }
}
