// SPDX-License-Identifier: Apache-2.0

import CGTK
import MainThread
import PromptWindows
import WhorlService
import WhorlSupport

/// The switches for the user's own keyring.
@MainActor
final class KeyringSwitches {
    let list = Build.list()
    /// Called after each change.
    var changed: Build.Action = {}

    private let session: Session
    private let window: Widget
    private let status: Widget
    private var atLogin: SwitchRow?
    private var onDemand: SwitchRow?
    /// Whether a change has not ended, while no other one is begun.
    private var isBusy = false

    /// Creates the list; the status shows how a change ended.
    init(_ session: Session, _ window: Widget, _ status: Widget) {
        self.session = session
        self.window = window
        self.status = status
        let atLogin = SwitchRow(KeyringSwitchStates.titleAtLogin) { [weak self] isOn in
            self?.turnAtLogin(on: isOn)
        }
        let onDemand = SwitchRow(KeyringSwitchStates.titleOnDemand) { [weak self] isOn in
            self?.askToTurnOnDemand(on: isOn)
        }
        for row in [atLogin, onDemand] { gtk_list_box_append(OpaquePointer(list), row.widget) }
        (self.atLogin, self.onDemand) = (atLogin, onDemand)
        gtk_widget_set_visible(list, 0)
    }

    /// Reads the switches.
    ///
    /// - Parameter logins: The switch that lets logins unlock keyrings; `nil` if this computer does not have it.
    func reload(whereLoginsMay logins: SwitchState?) {
        session.run { session throws(ServiceError) in
            KeyringSwitchStates(
                keyring: try await session.services.ask(ReadKeyringStatus()),
                isPasscodeSet: try await session.services.ask(IsPasscodeSet()),
                logins: logins
            )
        } then: { outcome in
            switch outcome {
            case .success(let states): self.show(states)
            case .failure(let error): Build.set(self.status, error.shown)
            }
        }
    }

    private func show(_ states: KeyringSwitchStates) {
        atLogin?.show(states.atLogin)
        onDemand?.show(states.onDemand)
        gtk_widget_set_visible(list, 1)
    }

    private func turnAtLogin(on isOn: Bool) {
        guard !isBusy else { return changed() }
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
            switch outcome {
            case .success: self.end("")
            case .failure(let error): self.end(error.shown)
            }
        }
    }

    private func askToTurnOnDemand(on isOn: Bool) {
        guard !isBusy else { return changed() }
        isBusy = true
        LoginPasswordDialog.ask(over: window, toTurnOn: isOn) { [weak self] password in
            guard let password else { return self?.end("") ?? () }
            Task.detached {
                let sentence = await KeyringOnDemand.turn(on: isOn, with: password)
                onMainThread { self?.end(sentence) }
            }
        }
    }

    private func end(_ sentence: String) {
        isBusy = false
        Build.set(status, sentence)
        changed()
    }
}
