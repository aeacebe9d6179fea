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
        abstract: "Unlock a user's fingers after too many failed touches (administrators only)",
        discussion: """
            Prompts for an administrator's password, through polkit; root needs none. It also ends the wait of the logins at \
            this machine, which rest after misses in a row. The journal and the user's log say who did it. To lift your own \
            lock, use `whorl passcode verify`. Example:

              whorl unlock --for anna
            """
    )

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The user whose fingers are unlocked.", valueName: "user")
    )
    var user: String

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        try requireSystemService(
            "The system's service is not installed, and nothing else locks another user's fingers."
        )
        let name = DisplayText.clean(user, limit: 60)
        guard let number = ThisProcess.userNumber(of: user) else {
            throw Failure.usage("This system has no user \(name).", hint: "`getent passwd` lists the users.")
        }
        let wasLocked = try await PasswordAgent.beside(session) {
            try await RemoteAccounts().unlock(number)
        }
        return Answer(
            result: ["user": .string(user), "wasLocked": .bool(wasLocked)],
            text: [wasLocked ? "\(name): fingers unlocked" : "\(name): fingers were not locked"]
        )
    }
}
