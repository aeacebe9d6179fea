// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The page with the passcode.
@MainActor
final class PasscodePage: Page {
    let title = translated("Passcode")
    let widget: Widget

    private let session: Session
    private let window: Widget
    private let state = Build.label(style: "heading")
    private let tries = Build.label()
    private let status = Build.status()
    private let set = Build.button(translated("Set Passcode…"))
    private let change = Build.button(translated("Change Passcode…"))
    private let remove = Build.button(translated("Remove Passcode…"))
    /// Whether a request has not ended, while no other one is begun.
    private var isBusy = false

    init(_ session: Session, _ window: Widget) {
        self.session = session
        self.window = window
        let about = Build.label(
            translated("The TPM stores the passcode and limits wrong attempts.")
        )
        widget = Build.page([state, about, tries, status, set, change, remove])
        connectSignal(set, "clicked") { [weak self] in self?.askForNew(isFirst: true) }
        connectSignal(change, "clicked") { [weak self] in self?.askForNew(isFirst: false) }
        connectSignal(remove, "clicked") { [weak self] in self?.askToRemove() }
        for widget in [set, change, remove, tries] { gtk_widget_set_visible(widget, 0) }
    }

    func reload() {
        session.run { session throws(ServiceError) in
            let isSet: Bool = try await session.services.ask(IsPasscodeSet())
            return (isSet, try await session.services.ask(ReadVaultStatus()).chip)
        } then: { outcome in
            switch outcome {
            case .success((let isSet, let chip)): self.show(isSet, chip)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func show(_ isSet: Bool, _ chip: ChipStatus?) {
        let sentence = isSet ? translated("A passcode is set.") : translated("No passcode is set.")
        gtk_label_set_text(OpaquePointer(state), sentence)
        for (button, isShown) in [(set, !isSet), (change, isSet), (remove, isSet)] {
            gtk_widget_set_visible(button, isShown ? 1 : 0)
        }
        // A limit of 0 means that the TPM does not count.
        if isSet, let chip, chip.failureLimit > 0 {
            let left = [String(max(0, chip.failureLimit - chip.failures)), String(chip.failureLimit)]
            let sentence = translated(
                "Tries left before the TPM locks: %1$@ of %2$@.",
                with: left[0],
                left[1]
            )
            gtk_label_set_text(OpaquePointer(tries), sentence)
            gtk_widget_set_visible(tries, 1)
        } else {
            gtk_widget_set_visible(tries, 0)
        }
    }

    private func askForNew(isFirst: Bool) {
        guard !isBusy else { return }
        PasscodeDialog.ask(over: window, isFirst: isFirst) { [weak self] new in
            if isFirst { self?.set(new) } else { self?.change(to: new) }
        }
    }

    /// Sets the first passcode, after a touch if a finger is enrolled.
    private func set(_ new: SecretBox) {
        perform("Passcode set.") { session throws(ServiceError) in
            try await session.services.ask(PrepareVault())
            // Keeps the touch until the passcode is set.
            let shown = OwnerSession()
            let request = AskForFinger(session.consent, in: shown)
            try await session.services.ask(request, presenter: session.presenter)
            try await session.services.ask(SetPasscode(new, session.consent, shown: shown))
        }
    }

    private func change(to new: SecretBox) {
        perform("Passcode changed.") { session throws(ServiceError) in
            let change = ChangePasscode(to: new, session.consent)
            try await session.services.ask(change, presenter: session.presenter)
        }
    }

    /// Asks for confirmation, with the items that would be deleted; the service then asks for the passcode.
    private func askToRemove() {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            let items = try await session.services.ask(ListItemsLostWithoutPasscode()) as [ItemID]
            return (items, try await session.services.ask(ReadKeyringStatus()) as KeyringStatus)
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success((let items, let keyring)): self.confirm(items, keyring)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func confirm(_ items: [ItemID], _ keyring: KeyringStatus) {
        let names = DisplayText.clean(items.map(\.name.text).joined(separator: ", "), limit: 300)
        let sentence = "Only the passcode unlocks these items, which are deleted: %1$@."
        var notes = items.isEmpty ? [] : [Build.label(translated(sentence, with: names))]
        if [.ownPassword, .ownPasswordWithoutLogin].contains(keyring) {
            let warning = "Then only a finger unlocks the keyring. To write its password down first, run:"
            notes += [Build.label(translated(warning)), Build.label("whorl keyring sheet")]
        }
        let dialog = Dialog(translated("Remove the passcode?"), over: window)
        let remove = Build.button(translated("Remove")) { [weak self] in
            dialog.close()
            self?.perform("Passcode removed.") { session throws(ServiceError) in
                let remove = RemovePasscode(force: !items.isEmpty, session.consent)
                try await session.services.ask(remove, presenter: session.presenter)
            }
        }
        gtk_widget_add_css_class(remove, "destructive-action")
        dialog.present(notes, buttons: [remove])
    }

    private func perform(
        _ success: String,
        _ body: @escaping @concurrent @Sendable (Session) async throws(ServiceError) -> Void
    ) {
        guard !isBusy else { return }
        isBusy = true
        session.run(body) { outcome in
            self.isBusy = false
            switch outcome {
            case .success: Build.set(self.status, translated(success))
            case .failure(let error): Build.set(self.status, error.shown)
            }
            self.reload()
        }
    }
}
