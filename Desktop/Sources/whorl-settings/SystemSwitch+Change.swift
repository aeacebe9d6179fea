// SPDX-License-Identifier: Apache-2.0

import WhorlSupport

extension SystemSwitch {
    /// Turns it on or off after an administrator's permission; returns a sentence for the user.
    @concurrent
    func turn(on isOn: Bool) async -> String {
        guard let helper = InstalledProgram.helper else { return translated("The change failed.") }
        // In a terminal, pkexec would prompt there if the desktop has no prompt.
        let words = ["pkexec", "--disable-internal-agent", helper] + arguments(on: isOn)
        let ending = await ChildProgram(words: words).run()
        switch ending.status {
        case 0: return await sentence(afterTurning: isOn)
        // The user has closed the prompt, or the administrator's rules refuse the change.
        case 126: return ""
        case 127: return translated("No administrator could be asked for permission.")
        default:
            guard let error = WhorlAnswer(ending.output)?.error else {
                return translated("The change failed.")
            }
            return "\(translated(error.message)) \(translated(error.recovery))"
        }
    }

    private func sentence(afterTurning isOn: Bool) async -> String {
        // pam-auth-update succeeds without a change if the files were edited by hand.
        guard await state()?.isOn == isOn else {
            return translated("Nothing was changed. To see why, run:") + " " + command(on: isOn)
        }
        return isOn ? translated("Turned on. Try it before you log out.") : translated("Turned off.")
    }
}
