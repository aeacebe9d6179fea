// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlSupport

/// The service: the engine behind a socket, so that programs get what a touch unlocks, and never what unlocks it.
@main
struct Whorld: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whorld",
        abstract: "Serves fingerprints and the items that they unlock to other programs.",
        discussion: """
            systemd starts it when a program connects to /run/whorl/io.whorl, and it leaves when nobody uses it. \
            `whorl` starts it as a private child where WHORL_SERVICE is `private`.
            """
    )

    @Option(help: ArgumentHelp("Serves this user alone, over an open socket.", valueName: "descriptor"))
    var `private`: Int32?

    @Option(help: ArgumentHelp("Where each user's state lies, in a folder of its own.", valueName: "dir"))
    var stateRoot = "/var/lib/whorl"

    @Option(
        help: ArgumentHelp("Leaves when nobody is connected for so long; 0 stays.", valueName: "seconds")
    )
    var idle = 30

    @Option(help: ArgumentHelp("The TPM, such as device:/dev/tpmrm0, or none.", valueName: "conf"))
    var tcti: String?

    @Flag(help: "Takes libfprint's virtual readers, whose fingers are made up; for tests of an installation.")
    var allowVirtualReaders = false

    @Option(
        name: .customLong("built-in-reader"),
        help: ArgumentHelp(
            "A reader under the lid, where the machine's firmware does not say so.",
            valueName: "id"
        )
    )
    var builtInReaders: [String] = []

    static func main() async {
        guard ThisProcess.hideMemory() else { _exit(71) }  // EX_OSERR
        signal(SIGPIPE, SIG_IGN)
        do {
            let command = try parse()
            try await command.run()
            _exit(0)
        } catch {
            exit(withError: error)
        }
    }

    func run() async throws {
        if let descriptor = `private` {
            try await PrivateService(descriptor: descriptor).run()
        } else {
            try await SystemService(
                stateRoot: stateRoot,
                idle: .seconds(idle),
                tpm: tcti,
                allowsVirtualReaders: allowVirtualReaders,
                builtInReaders: builtInReaders
            ).run()
        }
    }
}
