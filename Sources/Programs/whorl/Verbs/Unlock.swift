// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlService
import WhorlSupport

/// The command `whorl unlock`.
struct Unlock: Verb {
    static let asks = Asked.systemService
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "End a user's lockout (administrators only)",
        discussion: """
            Prompts for an administrator's password through polkit, unless you are root. This also ends the delay after failed \
            logins at this computer. The journal and the user's log record who did it. To end your own lockout, use \
            `whorl passcode verify`. Example:

              whorl unlock --for anna
            """
    )

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The user to unlock", valueName: "user")
    )
    var user: String

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        try requireSystemService(
            "The system service is not installed."
        )
        let name = DisplayText.clean(user, limit: 60)
        guard let number = ThisProcess.userNumber(of: user) else {
            throw Failure.usage("Unknown user \(name).", hint: "`getent passwd` lists the users.")
        }
        let wasLocked = try await PasswordAgent.beside(session) {
            try await RemoteAccounts().unlock(number)
        }
        return Answer(
            result: ["user": .string(user), "wasLocked": .bool(wasLocked)],
            text: [wasLocked ? "\(name): fingers unlocked" : "\(name): fingers were not locked out"]
        )
    }
}
