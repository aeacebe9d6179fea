// SPDX-License-Identifier: Apache-2.0

import CGTK
import MainThread
import PromptWindows
import WhorlService
import WhorlSupport

/// The switch for the user's SSH agent with keys in the TPM; it is hidden if the agent is not installed.
@MainActor
final class SSHSwitch {
    let list = Build.list()
    /// Called after each change.
    var changed: Build.Action = {}

    private let session: Session
    private let status: Widget
    private var row: SwitchRow?
    /// Whether a change has not ended, while no other one is begun.
    private var isBusy = false

    /// Creates the list; the status shows how a change ended.
    init(_ session: Session, _ status: Widget) {
        self.session = session
        self.status = status
        let row = SwitchRow(translated("SSH and git")) { [weak self] isOn in self?.turn(on: isOn) }
        gtk_list_box_append(OpaquePointer(list), row.widget)
        gtk_widget_set_visible(list, 0)
        self.row = row
    }

    /// Reads whether the agent is enabled, and whether it has a key.
    func reload() {
        session.run { session throws(ServiceError) in
            guard let isOn = await Self.isEnabled() else { return nil as SwitchState? }
            let items = try await session.services.ask(ListItems())
            var lines = [translated("Keys in the TPM sign for ssh and git after a touch.")]
            if isOn, !items.contains(where: { $0.id.kind == .sshKey }) {
                lines += [translated("To create a key, run:"), "whorl ssh create NAME"]
            }
            return SwitchState(isOn: isOn, lines: lines)
        } then: { outcome in
            switch outcome {
            case .success(let state): self.show(state)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func show(_ state: SwitchState?) {
        gtk_widget_set_visible(list, state == nil ? 0 : 1)
        if let state { row?.show(state) }
    }

    private func turn(on isOn: Bool) {
        guard !isBusy else { return changed() }
        isBusy = true
        Task.detached {
            let answer = await WhorlCommand.run(["ssh", isOn ? "enable" : "disable"])
            let fault = answer?.error.map { "\($0.message) \($0.recovery)" }
            let sentence = fault ?? (answer == nil ? translated("The change failed.") : "")
            onMainThread {
                self.isBusy = false
                Build.set(self.status, sentence)
                self.changed()
            }
        }
    }

    /// Returns whether systemd starts the agent when a program needs it; `nil` if the agent is not installed.
    @concurrent
    private nonisolated static func isEnabled() async -> Bool? {
        let words = ["systemctl", "--user", "is-enabled", "whorl-ssh-agent.socket"]
        guard InstalledProgram.whorl != nil, InstalledProgram.isInSystem(words[0]) else { return nil }
        let output = String(decoding: await ChildProgram(words: words).run().output, as: UTF8.self)
        // systemctl(1) has other words for units that are missing or cannot be enabled.
        switch output.split(whereSeparator: \.isNewline).first {
        case "enabled", "enabled-runtime": return true
        case "disabled": return false
        default: return nil
        }
    }
}
