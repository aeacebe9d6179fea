// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlService
import WhorlSupport

/// The page that says whether the reader, the TPM and the service work, with a button for each problem that one can fix.
@MainActor
final class HealthPage: Page {
    let title = translated("Reader and TPM")
    let widget: Widget

    private let session: Session
    private let list = Build.list()
    private let status = Build.status()
    /// Whether a request has not ended, while no other one is begun.
    private var isBusy = false

    init(_ session: Session) {
        self.session = session
        let again = Build.button(translated("Check Again"))
        widget = Build.page([list, status, again])
        connectSignal(again, "clicked") { [weak self] in self?.reload() }
    }

    func reload() {
        session.run { session async throws(ServiceError) in
            await HealthCheck.all(session.services)
        } then: { outcome in
            if case .success(let checks) = outcome { Build.fill(self.list, checks.map(self.row)) }
        }
    }

    private func row(_ check: HealthCheck) -> Widget {
        let icon: Widget = gtk_image_new_from_icon_name(check.verdict.icon)
        gtk_widget_set_valign(icon, GTK_ALIGN_START)
        whorl_set_accessible_label(icon, check.verdict.name)
        let button = check.remedy.map { remedy in
            Build.button(remedy.title) { [weak self] in self?.apply(remedy) }
        }
        return Build.row(
            check.name,
            check.sentences.map { DisplayText.clean($0, limit: 300) },
            before: icon,
            after: [button].compactMap(\.self)
        )
    }

    private func apply(_ remedy: HealthCheck.Remedy) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            try await remedy.apply(session)
        } then: { outcome in
            self.isBusy = false
            switch outcome {
            case .success: Build.set(self.status, "")
            case .failure(let error): Build.set(self.status, error.shown)
            }
            self.reload()
        }
    }
}

extension HealthCheck.Verdict {
    fileprivate var icon: String {
        switch self {
        case .good: "object-select-symbolic"
        case .warning: "dialog-warning-symbolic"
        case .bad: "dialog-error-symbolic"
        }
    }

    fileprivate var name: String {
        switch self {
        case .good: translated("OK")
        case .warning: translated("Warning")
        case .bad: translated("Problem")
        }
    }
}

extension HealthCheck.Remedy {
    fileprivate var title: String {
        switch self {
        case .verifyPasscode: translated("Verify Passcode…")
        case .protectPrints: translated("Use the TPM")
        }
    }

    fileprivate func apply(_ session: Session) async throws(ServiceError) {
        switch self {
        case .verifyPasscode:
            let request = EvaluationRequest(
                policy: .deviceOwner,
                purpose: .yes,
                reason: translated("end the lockout"),
                application: Session.application
            )
            _ = try await session.services.evaluate(request, presenter: session.presenter)
        case .protectPrints: try await session.services.ask(ProvisionVault())
        }
    }
}
