// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSecretMemory
import WhorlSupport

/// The dialog that asks for the login password, which the keyring has or gets again.
@MainActor
enum LoginPasswordDialog {
    /// Asks for the login password: once if the keyring has it, so that it is checked, and otherwise twice.
    ///
    /// - Parameters:
    ///   - window: The window behind the dialog.
    ///   - isOn: Whether the keyring gets its own password; otherwise, it gets the login password again.
    ///   - answered: Called with the password; `nil` if the user cancels.
    static func ask(
        over window: Widget,
        toTurnOn isOn: Bool,
        then answered: @escaping @MainActor @Sendable (SecretBox?) -> Void
    ) {
        let title =
            isOn ? translated("Unlock the keyring on demand?") : translated("Turn off the keyring on demand?")
        let dialog = Dialog(title, over: window)
        let password = PasswordField()
        let again = isOn ? nil : PasswordField()
        let status = Build.status()
        let submit: Build.Action = {
            // Both fields are cleared in any case.
            let typed = password.text.takePasscode()
            let repeated = again?.text.takePasscode()
            guard let typed else { return password.focus() }
            let isConfirmed = if let repeated { SecretBytes.areEqual(typed, repeated) } else { isOn }
            guard isConfirmed else {
                Build.set(status, translated("The passwords do not match."))
                password.focus()
                return
            }
            dialog.onClose {}
            dialog.close()
            answered(SecretBox(typed))
        }
        if let again {
            connectSignal(password.text, "activate") { again.focus() }
            connectSignal(again.text, "activate", submit)
        } else {
            connectSignal(password.text, "activate", submit)
        }
        dialog.onClose { answered(nil) }
        let explanation =
            isOn
            ? translated("The keyring gets its own password, which a touch or your passcode releases.")
            : translated("The keyring gets your login password again.")
        let repetition = again.map { Build.field(translated("Repeat the password"), $0) }
        dialog.present(
            [Build.label(explanation), Build.field(translated("Login password"), password)]
                + [repetition].compactMap(\.self) + [status],
            buttons: [Build.button(isOn ? translated("Turn On") : translated("Turn Off"), submit)],
            focus: password.text
        )
    }
}
