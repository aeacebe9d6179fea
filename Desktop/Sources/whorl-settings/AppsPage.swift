// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlService
import WhorlSupport

/// The page with the programs that have asked for something, and the secrets and keys that they stored.
@MainActor
final class AppsPage: Page {
    /// The number of log entries in which programs are looked for.
    private nonisolated static let entries = 1000

    let title = translated("Apps")
    let widget: Widget

    private let session: Session
    private let window: Widget
    private let status = Build.status()
    private let programs = Build.list()
    private let itemsTitle = Build.label(translated("Secrets and keys"), style: "heading")
    private let items = Build.list()
    private let programItems: ProgramItemsList
    /// Whether a request has not ended, while no other one is begun.
    private var isBusy = false

    init(_ session: Session, _ window: Widget) {
        self.session = session
        self.window = window
        programItems = ProgramItemsList(session, window, status)
        widget = Build.page([status, programs, itemsTitle, items, programItems.widget])
        gtk_widget_set_visible(itemsTitle, 0)
    }

    func reload() {
        programItems.hide()
        reload(saying: nil)
    }

    /// Reads the page again, and shows a sentence once it is shown.
    private func reload(saying sentence: String?) {
        session.run { session throws(ServiceError) in
            var programs = AskingProgram.all(in: try await session.services.ask(ReadLog(limit: Self.entries)))
            for index in programs.indices {
                programs[index].isDenied = try await session.services.ask(IsOptedOut(programs[index].id))
            }
            return (programs, try await Self.items(session))
        } then: { outcome in
            switch outcome {
            case .success((let programs, let items)): self.show(programs, items, sentence)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private static nonisolated func items(_ session: Session) async throws(ServiceError) -> [VaultItem] {
        do throws(ServiceError) {
            return try await session.services.ask(ListItems())
        } catch  where error.code == .noChip {
            // Without a TPM, there are no items.
            return []
        }
    }

    private func show(_ programs: [AskingProgram], _ items: [VaultItem], _ sentence: String?) {
        let none = programs.isEmpty ? translated("No program has asked for anything yet.") : nil
        Build.set(status, [sentence, none].compactMap(\.self).joined(separator: " "))
        Build.fill(self.programs, programs.map(row))
        Build.fill(self.items, items.map(row))
        gtk_widget_set_visible(itemsTitle, items.isEmpty ? 0 : 1)
    }

    // MARK: - Programs

    private func row(_ program: AskingProgram) -> Widget {
        let denied = translated("Fingerprints are disabled for this program.")
        let happened = program.latest.sentence
        let title = program.isDenied ? translated("Allow") : translated("Deny")
        return Build.row(
            program.shownName,
            [
                "\(Moment.minute(program.latest.at)) · \(happened)",
                program.isDenied && happened != denied ? denied : "",
            ],
            after: [
                Build.button(title, about: program.shownName) { [weak self] in
                    self?.deny(!program.isDenied, program.id)
                }
            ]
        )
    }

    private func deny(_ isDenied: Bool, _ program: ApplicationID) {
        perform(
            isDenied
                ? "Fingerprints are disabled for this program." : "Fingerprints are enabled for this program."
        ) {
            session throws(ServiceError) in
            let change = SetOptedOut(isDenied, for: program, session.consent)
            _ = try await session.services.ask(change, presenter: session.presenter)
        }
    }

    // MARK: - Items

    private func row(_ item: VaultItem) -> Widget {
        let title = ItemTitle(item.id)
        let day = Moment.day(item.createdAt)
        let kind =
            item.id.kind == .key
            ? translated("Key, created on %1$@", with: day) : translated("Secret, created on %1$@", with: day)
        return Build.row(
            title.name,
            [title.program ?? "", kind],
            after: [
                Build.button(translated("Delete…"), about: title.name) { [weak self] in
                    self?.askToDelete(item.id)
                }
            ]
        )
    }

    private func askToDelete(_ id: ItemID) {
        guard !isBusy else { return }
        DeletionDialog.ask(over: window, about: ItemTitle(id).name) { [weak self] in self?.delete(id) }
    }

    private func delete(_ id: ItemID) {
        perform("Item deleted.") { session throws(ServiceError) in
            let deletion = DeleteItem(id, session.consent)
            try await session.services.ask(deletion, presenter: session.presenter)
        }
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
            case .success: self.reload(saying: translated(success))
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }
}
