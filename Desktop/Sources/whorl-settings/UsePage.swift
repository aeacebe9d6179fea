// SPDX-License-Identifier: Apache-2.0

import PromptWindows
import WhorlService
import WhorlSupport

/// The page with the system features that accept a touch.
@MainActor
final class UsePage: Page {
    let title = translated("Use It For")
    let widget: Widget

    private let keyring: KeyringSwitches
    private let ssh: SSHSwitch
    private let system: SystemSwitches

    init(_ session: Session, _ window: Widget) {
        let status = Build.status()
        keyring = KeyringSwitches(session, window, status)
        ssh = SSHSwitch(session, status)
        system = SystemSwitches(status)
        widget = Build.page([keyring.list, ssh.list, status, system.widget])
        keyring.changed = { [weak self] in self?.reload() }
        ssh.changed = { [weak self] in self?.reload() }
        system.changed = { [weak self] in self?.reload() }
    }

    func reload() {
        ssh.reload()
        system.reload { [weak self] states in self?.keyring.reload(whereLoginsMay: states[.keyring]) }
    }
}
