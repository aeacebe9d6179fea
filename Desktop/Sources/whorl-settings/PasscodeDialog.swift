// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The dialog that asks for a new passcode.
@MainActor
enum PasscodeDialog {
    /// Asks for a new passcode twice.
    ///
    /// - Parameters:
    ///   - window: The window behind the dialog.
    ///   - isFirst: Whether no passcode is set yet.
    ///   - entered: Called with the passcode; not called if the user cancels.
    static func ask(
        over window: Widget,
        isFirst: Bool,
        then entered: @escaping @MainActor @Sendable (SecretBox) -> Void
    ) {
        let title = isFirst ? translated("Set a passcode") : translated("Change the passcode")
        let dialog = Dialog(title, over: window)
        let (new, again) = (PasswordField(), PasswordField())
        let status = Build.status()
        let submit: Build.Action = {
            // Both fields are cleared, also if the passcodes are refused.
            let typed = new.text.takePasscode()
            let repeated = again.text.takePasscode()
            guard let first = typed, first.count >= PasscodeSize.allowed.lowerBound else {
                let least = String(PasscodeSize.allowed.lowerBound)
                Build.set(status, translated("Use at least %1$@ characters.", with: least))
                new.focus()
                return
            }
            guard let second = repeated, SecretBytes.areEqual(first, second) else {
                Build.set(status, translated("The passcodes are different."))
                new.focus()
                return
            }
            dialog.close()
            entered(SecretBox(first))
        }
        connectSignal(new.text, "activate") { again.focus() }
        connectSignal(again.text, "activate", submit)
        let set = Build.button(isFirst ? translated("Set") : translated("Change"), submit)
        dialog.present(
            [
                Build.field(translated("New passcode"), new),
                Build.field(translated("Repeat passcode"), again), status,
            ],
            buttons: [set],
            focus: new.text
        )
    }
}
