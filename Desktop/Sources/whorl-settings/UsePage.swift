// SPDX-License-Identifier: Apache-2.0

import PromptWindows
import WhorlService
import WhorlSupport

/// The page with the system features that accept a touch.
@MainActor
final class UsePage: Page {
    let title = translated("Use It For")
    let widget: Widget

    private let session: Session
    private let list = Build.list()
    private let status = Build.status()
    /// Whether a request has not ended, while no other one is begun.
    private var isBusy = false

    init(_ session: Session) {
        self.session = session
        widget = Build.page([list, status])
    }

    func reload() {
        session.run { session throws(ServiceError) in
            try await session.services.ask(ReadKeyringStatus())
        } then: { outcome in
            switch outcome {
            case .success(let keyring): Build.fill(self.list, [self.row(keyring), Self.services])
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func row(_ keyring: KeyringStatus) -> Widget {
        let isOn = keyring != .off
        let name = translated("Keyring")
        // The keyring then gets the login password again, which only the terminal asks for.
        guard ![.ownPassword, .ownPasswordWithoutLogin].contains(keyring) else {
            return Build.row(
                name,
                [keyring.sentence, translated("To turn this off, run:"), "whorl keyring off"]
            )
        }
        let button = Build.button(isOn ? translated("Turn Off") : translated("Turn On"), about: name) {
            [weak self] in
            self?.turnKeyring(on: !isOn)
        }
        return Build.row(name, [keyring.sentence], after: [button])
    }

    /// The services whose files only an administrator can change.
    private static var services: Widget {
        Build.row(
            translated("sudo, logins and the screen lock"),
            [
                translated("An administrator enables touches for each of them, such as for sudo:"),
                "sudo whorl pam add sudo",
            ]
        )
    }

    private func turnKeyring(on isOn: Bool) {
        guard !isBusy else { return }
        isBusy = true
        session.run { session throws(ServiceError) in
            if isOn {
                _ = try await session.services.ask(
                    TurnKeyringOn(session.consent),
                    presenter: session.presenter
                )
            } else {
                _ = try await session.services.ask(
                    TurnKeyringOff(session.consent),
                    presenter: session.presenter
                )
            }
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

extension KeyringStatus {
    fileprivate var sentence: String {
        switch self {
        case .off: translated("A login by touch does not unlock the keyring.")
        case .waiting: translated("Log in with your password once. Later logins by touch unlock the keyring.")
        case .enrollmentChanged:
            translated(
                "Your fingers changed. Log in with your password once, so that touches unlock it again."
            )
        case .ready: translated("A login by touch unlocks the keyring.")
        case .ownPassword: translated("A touch, your passcode or a login unlocks the keyring.")
        case .ownPasswordWithoutLogin:
            translated(
                "A touch or your passcode unlocks the keyring, but a login with your password does not."
            )
        }
    }
}
