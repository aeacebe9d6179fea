// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The page with the enrolled fingers.
@MainActor
final class FingersPage: Page {
    let title = translated("Fingers")
    let widget: Widget

    private let session: Session
    private let window: Widget
    private let list = Build.list()
    private let status = Build.status()
    private var fingers: [EnrolledFinger] = []
    /// Whether a request has not ended, while no other one is begun.
    private var isBusy = false

    init(_ session: Session, _ window: Widget) {
        self.session = session
        self.window = window
        let add = Build.button(translated("Add a Finger…"))
        let identify = Build.button(translated("Which Finger Is This?"))
        widget = Build.page([list, status, add, identify])
        connectSignal(add, "clicked") { [weak self] in self?.choose() }
        connectSignal(identify, "clicked") { [weak self] in self?.test(nil) }
    }

    func reload() { reload(saying: nil) }

    /// Reads the fingers again, and shows a sentence once they are shown.
    private func reload(saying sentence: String?) {
        session.run { session throws(ServiceError) in
            try await session.services.ask(ListFingers())
        } then: { outcome in
            switch outcome {
            case .success(let fingers): self.show(fingers, sentence)
            case .failure(let error): self.say(error)
            }
        }
    }

    private func show(_ fingers: [EnrolledFinger], _ sentence: String?) {
        self.fingers = fingers
        Build.fill(list, fingers.map(row))
        let none = fingers.isEmpty ? translated("No finger is enrolled.") : nil
        Build.set(status, [sentence, none].compactMap(\.self).joined(separator: " "))
    }

    private func row(_ finger: EnrolledFinger) -> Widget {
        let name = finger.shownName
        return Build.row(
            name,
            [finger.label == nil ? "" : finger.ownName, finger.enrolled],
            after: [
                Build.button(translated("Test"), about: name) { [weak self] in self?.test(finger) },
                Build.button(translated("Rename…"), about: name) { [weak self] in self?.askToRename(finger) },
                Build.button(translated("Delete…"), about: name) { [weak self] in self?.askToDelete(finger) },
            ]
        )
    }

    // MARK: - Add

    private func choose() {
        guard !isBusy else { return }
        let enrolled = Set(fingers.map(\.finger))
        FingerChoice.ask(over: window, marking: enrolled) { [weak self] finger in self?.enroll(finger) }
    }

    private func enroll(_ finger: NewFinger) {
        guard !isBusy else { return }
        isBusy = true
        EnrollmentWindow.enroll(finger, for: Session.application) { _ in
            // The enrollment's own window says how it ended.
            self.isBusy = false
            self.reload()
        } onEnd: { _ in
            // The finger is stored even if the test touches were skipped.
            self.reload()
        }
    }

    // MARK: - Test

    /// Prompts for a touch and says which finger it was; with a finger, says whether it was that one.
    private func test(_ finger: EnrolledFinger?) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            let request = EvaluationRequest(
                policy: .biometrics,
                purpose: .yes,
                reason: translated("test a finger"),
                application: Session.application,
                fallbackTitle: ""
            )
            return try await session.services.evaluate(request, presenter: session.presenter)
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success(let evaluation): self.tell(evaluation, asked: finger)
            case .failure(let error): self.say(error)
            }
        }
    }

    private func tell(_ evaluation: Evaluation, asked: EnrolledFinger?) {
        guard let matched = evaluation.finger else { return Build.set(status, "") }
        let name = translated(matched.spokenName)
        if let asked, asked.finger != matched {
            let other = translated(asked.finger.spokenName)
            Build.set(status, translated("This is the %1$@, not the %2$@.", with: name, other))
        } else {
            Build.set(status, translated("Matched: %1$@.", with: name))
        }
    }

    // MARK: - Rename

    private func askToRename(_ finger: EnrolledFinger) {
        guard !isBusy else { return }
        let field: Widget = gtk_entry_new()
        gtk_entry_set_max_length(field.of(GtkEntry.self), 100)
        gtk_editable_set_text(OpaquePointer(field), finger.label ?? "")
        let dialog = Dialog(translated("Rename “%1$@”", with: finger.shownName), over: window)
        let rename: Build.Action = { [weak self] in
            let typed = gtk_editable_get_text(OpaquePointer(field)).map { String(cString: $0) } ?? ""
            dialog.close()
            self?.rename(finger, typed)
        }
        connectSignal(field, "activate", rename)
        dialog.present(
            [Build.field(translated("Name (optional)"), field)],
            buttons: [Build.button(translated("Rename"), rename)],
            focus: field
        )
    }

    private func rename(_ finger: EnrolledFinger, _ name: String) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            let label = LabelFingers(.print(finger.id), as: name.isEmpty ? nil : name)
            return try await session.services.ask(label) as [EnrolledFinger]
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success: self.reload(saying: translated("Finger renamed."))
            case .failure(let error): self.say(error)
            }
        }
    }

    // MARK: - Delete

    /// Asks for confirmation, with the items that stop working; the service then asks for a touch or the passcode.
    private func askToDelete(_ finger: EnrolledFinger) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            try await session.services.ask(ListItems()) as [VaultItem]
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success(let items): self.confirm(finger, items.filter(\.access.isBoundToCurrentSet))
            // Without a TPM, there are no items that could stop working.
            case .failure(let error) where error.code == .noChip: self.confirm(finger, [])
            case .failure(let error): self.say(error)
            }
        }
    }

    private func confirm(_ finger: EnrolledFinger, _ items: [VaultItem]) {
        let names = items.map { $0.id.name.text }.joined(separator: ", ")
        var notes = [
            translated("Programs may have to set up their keys and keychain items for fingerprints again.")
        ]
        if !items.isEmpty {
            let sentence = "These items stop working, or then require the passcode: %1$@."
            notes.insert(translated(sentence, with: DisplayText.clean(names, limit: 300)), at: 0)
        }
        // A label may be of another finger by now.
        if finger.label != nil { notes.insert(finger.described, at: 0) }
        if fingers.count == 1 {
            notes.append(translated("This is your only finger. Without it, you need a password."))
        }
        let dialog = Dialog(translated("Delete “%1$@”?", with: finger.shownName), over: window)
        let delete = Build.button(translated("Delete")) { [weak self] in
            dialog.close()
            self?.delete(finger)
        }
        gtk_widget_add_css_class(delete, "destructive-action")
        dialog.present(notes.map { Build.label($0) }, buttons: [delete])
    }

    private func delete(_ finger: EnrolledFinger) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            let remove = RemoveFingers(.print(finger.id), force: false, session.consent)
            return try await session.services.ask(remove, presenter: session.presenter)
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success: self.reload(saying: translated("Finger deleted."))
            case .failure(let error): self.say(error)
            }
        }
    }

    private func say(_ error: ServiceError) { Build.set(status, error.shown) }
}

extension EnrolledFinger {
    /// The finger's own name, whatever its label says.
    fileprivate var ownName: String { Build.capitalized(translated(finger.spokenName)) }

    /// When and with which reader it was enrolled.
    fileprivate var enrolled: String {
        translated(
            "Enrolled on %1$@ with %2$@.",
            with: Moment.day(enrolledAt),
            DisplayText.clean(readerName, limit: 60)
        )
    }

    /// The finger's own name, and when it was enrolled.
    fileprivate var described: String { "\(ownName). \(enrolled)" }

    /// The owner's name for the finger; otherwise the finger's own.
    var shownName: String {
        let name = label ?? ""
        return name.isEmpty
            ? ownName : DisplayText.clean(name, limit: 100)
    }
}

extension ServiceError {
    /// The sentences for the user; none for a user who canceled.
    var shown: String {
        guard code != .userCancel, code != .appCancel else { return "" }
        return [message, recovery].filter { !$0.isEmpty }.map { translated($0) }.joined(separator: " ")
    }
}
