// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlService
import WhorlSupport

/// The keychain items of all programs, which are shown after a touch or the passcode.
@MainActor
final class ProgramItemsList {
    let widget: Widget

    private let session: Session
    private let window: Widget
    private let status: Widget
    private let list = Build.list()
    private var shown: [Row] = []
    /// Whether a request has not ended, while no other one is begun.
    private var isBusy = false

    /// An item, and the program that stored it.
    private struct Row {
        let program: String
        let item: ProgramItems.Item
    }

    /// Creates the list; the status shows how a request ended.
    init(_ session: Session, _ window: Widget, _ status: Widget) {
        self.session = session
        self.window = window
        self.status = status
        let button = Build.button(translated("Show Items of All Programs…"))
        widget = Build.box(GTK_ORIENTATION_VERTICAL, [button, list])
        connectSignal(button, "clicked") { [weak self] in self?.ask() }
        hide()
    }

    /// Hides the items until the user authenticates again.
    func hide() { show([]) }

    private func show(_ rows: [Row]) {
        shown = rows
        Build.fill(list, rows.map(row))
    }

    private func ask() {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            let listing = ListProgramItems(session.consent)
            return try await session.services.ask(listing, presenter: session.presenter)
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success(let items): self.show(items)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func show(_ items: ProgramItems) {
        show(items.programs.flatMap { own in own.items.map { Row(program: own.accessGroup, item: $0) } })
        var sentence = shown.isEmpty ? translated("No program has stored a keychain item.") : ""
        if items.omitted > 0 {
            let count = String(items.omitted)
            sentence = translated("Not shown, because they are damaged or too many: %1$@", with: count)
        }
        Build.set(status, sentence)
    }

    private func row(_ row: Row) -> Widget {
        let name = DisplayText.clean(row.item.name, limit: 100)
        let program = DisplayText.quoted(row.program, limit: 60)
        let kind =
            switch row.item.kind {
            case .password: translated("Password of %1$@", with: program)
            case .key: translated("Key of %1$@", with: program)
            case .certificate: translated("Certificate of %1$@", with: program)
            }
        return Build.row(
            name,
            [kind],
            after: [
                Build.button(translated("Delete…"), about: name) { [weak self] in
                    self?.askToDelete(row.item, name)
                }
            ]
        )
    }

    private func askToDelete(_ item: ProgramItems.Item, _ name: String) {
        guard !isBusy else { return }
        DeletionDialog.ask(over: window, about: name) { [weak self] in self?.delete(item) }
    }

    private func delete(_ item: ProgramItems.Item) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            try await session.services.ask(DeleteProgramItem(item.version))
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success:
                self.show(self.shown.filter { $0.item.version != item.version })
                Build.set(self.status, translated("Item deleted."))
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }
}
