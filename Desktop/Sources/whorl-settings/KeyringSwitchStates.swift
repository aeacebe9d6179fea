// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// The states of the switches for the user's own keyring.
struct KeyringSwitchStates: Sendable {
    static let titleAtLogin = translated("Keyring at login")
    static let titleOnDemand = translated("Keyring on demand")

    let keyring: KeyringStatus
    let isPasscodeSet: Bool
    /// The switch that lets logins unlock keyrings; `nil` if this computer does not have it.
    let logins: SwitchState?

    private var hasOwnPassword: Bool {
        [.ownPassword, .ownPasswordWithoutLogin, .ownPasswordLost].contains(keyring)
    }

    var atLogin: SwitchState {
        if hasOwnPassword {
            let reason = translated("Included in “%1$@”.", with: Self.titleOnDemand)
            return SwitchState(isOn: keyring == .ownPassword, canChange: false, lines: [reason])
        }
        var state = SwitchState(isOn: keyring != .off, lines: [keyring.sentence])
        // Without the line in PAM's files, it would have no effect. It can be turned off in any case.
        if keyring == .off, logins?.isOn == false {
            state.canChange = false
            state.lines.append(translated("First, turn on “%1$@”.", with: SystemSwitch.keyring.title))
        }
        return state
    }

    var onDemand: SwitchState {
        let offer = translated("A touch or your passcode unlocks the keyring whenever a program needs it.")
        var state = SwitchState(isOn: hasOwnPassword, lines: [hasOwnPassword ? keyring.sentence : offer])
        if keyring == .ownPasswordLost {
            // Only the terminal asks for the password on the sheet.
            return SwitchState(isOn: true, canChange: false, lines: state.lines + [Self.fromSheet])
        }
        state.lines += obstacle ?? []
        state.canChange = obstacle == nil
        if keyring == .ownPasswordWithoutLogin {
            state.lines += [translated("To change this, run:"), Self.command(on: true)]
        }
        return state
    }

    /// The reason why the keyring's password cannot be changed here.
    private var obstacle: [String]? {
        if InstalledProgram.whorl == nil {
            return [translated("To change this, run:"), Self.command(on: !hasOwnPassword)]
        }
        guard Self.isKeyringRunning else {
            return [translated("This requires GNOME's keyring, which is not running.")]
        }
        // The passcode is the way into the keyring if the fingers or the reader are lost.
        return hasOwnPassword || isPasscodeSet ? nil : [translated("First, set a passcode.")]
    }

    private static let fromSheet = "whorl keyring off --from-sheet"

    private static func command(on isOn: Bool) -> String {
        isOn ? "whorl keyring on --on-demand" : "whorl keyring off"
    }

    /// Whether gnome-keyring offers its socket; `whorl` checks who offers it.
    private static var isKeyringRunning: Bool {
        let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/run/user/\(getuid())"
        return access("\(folder)/keyring/control", F_OK) == 0
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
        case .ownPasswordLost:
            translated("The keyring's own password was lost. With its recovery sheet, run:")
        case .ownPasswordWithoutLogin:
            translated(
                "A touch or your passcode unlocks the keyring, but a login with your password does not."
            )
        }
    }
}
