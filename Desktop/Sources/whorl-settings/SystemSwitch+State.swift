// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

extension SystemSwitch {
    /// Reads all switches of this computer at the same time.
    @concurrent
    static func states() async -> [SystemSwitch: SwitchState] {
        await withTaskGroup(of: (SystemSwitch, SwitchState?).self) { group in
            for place in all { group.addTask { (place, await place.state()) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Reads whether it is on, and whether the user can change it; returns `nil` if this computer does not have it.
    @concurrent
    func state() async -> SwitchState? {
        guard var state = await ownState() else { return nil }
        guard state.canChange else { return state }
        if !Self.canAsk {
            state.canChange = false
            state.lines += [
                translated("An administrator can change this in a terminal:"), command(on: !state.isOn),
            ]
        } else if await isForbidden() {
            state.canChange = false
            state.lines.append(translated("Your administrator does not allow changing this."))
        }
        return state
    }

    /// Reads it regardless of who may change it.
    private func ownState() async -> SwitchState? {
        switch self {
        case .profile(_, let name):
            PAMFiles.has(profile: name) ? SwitchState(isOn: PAMFiles.isEnabled(profile: name)) : nil
        case .service(_, let name):
            InstalledProgram.whorl != nil && PAMFiles.has(service: name) ? await serviceState(name) : nil
        }
    }

    private func serviceState(_ name: String) async -> SwitchState {
        switch await WhorlCommand.run(["pam", "status", name])?.result?.by {
        case "own": return SwitchState(isOn: true)
        case .some:
            return SwitchState(
                isOn: true,
                canChange: false,
                lines: [translated("On through the system profile.")]
            )
        case nil: break
        }
        // The line cannot be added to every file; whorl decides.
        let trial = ["pam", "add", name, "--dry-run"]
        guard await WhorlCommand.run(trial)?.result == nil else { return SwitchState(isOn: false) }
        let reason = translated("Its PAM file cannot be changed automatically. For the reason, run:")
        return SwitchState(
            isOn: false,
            canChange: false,
            lines: [reason, (["whorl"] + trial).joined(separator: " ")]
        )
    }

    /// Whether an administrator can be asked for permission.
    private static var canAsk: Bool {
        InstalledProgram.helper != nil && InstalledProgram.isInSystem("pkexec")
    }

    /// Returns whether polkit's rules refuse the change without asking anyone.
    ///
    /// This is only shown. polkit decides again when the helper is started.
    private func isForbidden() async -> Bool {
        let check = ChildProgram(words: ["pkcheck", "--action-id", action, "--process", "\(getpid())"])
        // pkcheck(1): 2 means that someone must authenticate, and other numbers that the check failed.
        return await check.run().status == 1
    }
}
