// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc
import KeyringQuestion
import PromptWindows
import WhorlSupport

/// The window for a password or a confirmation.
///
/// Passwords stay in GTK's own buffers, which it wipes, and are written from there.
@MainActor
final class KeyringWindow {
    private static var shown: KeyringWindow?

    private let question: KeyringQuestion
    private let widgets: KeyringWidgets

    static func open(_ question: KeyringQuestion) {
        let window = KeyringWindow(question)
        shown = window
        window.connect()
        window.widgets.present()
    }

    private init(_ question: KeyringQuestion) {
        self.question = question
        widgets = KeyringWidgets(question)
    }

    private func connect() {
        connectSignal(widgets.cancel, "clicked") { KeyringWindow.shown?.cancel() }
        connectSignal(widgets.proceed, "clicked") { KeyringWindow.shown?.proceed() }
        connectSignal(widgets.password.text, "activate") { KeyringWindow.shown?.entered() }
        connectSignal(widgets.repetition.text, "activate") { KeyringWindow.shown?.proceed() }
        widgets.onClose { KeyringWindow.shown?.cancel() }
    }

    private func cancel() { end([KeyringAnswerForm.no, KeyringAnswerForm.no], nil) }

    /// Goes from the first field to the second, or answers.
    private func entered() {
        if question.kind == .newPassword { widgets.focusRepetition() } else { proceed() }
    }

    private func proceed() {
        let start = [KeyringAnswerForm.yes, widgets.isChosen ? KeyringAnswerForm.yes : KeyringAnswerForm.no]
        guard question.kind != .confirmation else { return end(start, nil) }
        guard let password = gtk_editable_get_text(OpaquePointer(widgets.password.text)) else {
            return cancel()
        }
        if question.kind == .newPassword,
            let repeated = gtk_editable_get_text(OpaquePointer(widgets.repetition.text)),
            strcmp(password, repeated) != 0
        {
            return widgets.complain(translated("The passwords do not match."))
        }
        guard strlen(password) <= KeyringAnswerForm.longestPassword else {
            return widgets.complain(translated("The password is too long."))
        }
        end(start, password)
    }

    /// Writes the answer, wipes the fields, and ends the process.
    private func end(_ start: [UInt8], _ password: UnsafePointer<CChar>?) {
        // The answer fits into the pipe.
        _ = write(STDOUT_FILENO, start, start.count)
        if let password { _ = write(STDOUT_FILENO, password, strlen(password)) }
        widgets.clear()
        exit(0)
    }
}
