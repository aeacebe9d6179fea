// SPDX-License-Identifier: Apache-2.0

import PromptWindows
import WhorlService
import WhorlSupport

/// The page with the newest entries of the user's log.
@MainActor
final class HistoryPage: Page {
    let title = translated("History")
    let widget: Widget

    private let session: Session
    private let status = Build.status()
    private let list = Build.list()

    init(_ session: Session) {
        self.session = session
        widget = Build.page([list, status])
    }

    func reload() {
        session.run { session throws(ServiceError) in
            try await session.services.ask(ReadLog(limit: 100))
        } then: { outcome in
            switch outcome {
            case .success(let entries): self.show(entries)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func show(_ entries: [AuditEntry]) {
        Build.set(status, entries.isEmpty ? translated("Nothing has happened yet.") : "")
        Build.fill(list, entries.map { Build.row($0.sentence, [$0.shownAsker, $0.shownTime]) })
    }
}

extension AuditEntry {
    /// The program that the system verified; otherwise the name that it claims, in quotation marks.
    fileprivate var shownAsker: String {
        if let id = asker?.confinedAs { return DisplayText.clean(id, limit: 60) }
        return application.isEmpty ? "" : "“\(DisplayText.clean(application, limit: 60))”"
    }

    fileprivate var shownTime: String {
        let time = Moment.minute(at)
        return repeats > 1 ? time + " · " + translated("%d time", "%d times", count: repeats) : time
    }
}
