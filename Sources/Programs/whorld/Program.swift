// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlGLib
import Glibc
import WhorlCallers
import WhorlSupport
import WhorlSystem

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
        help: ArgumentHelp("The administrator's choices; without a file, the defaults.", valueName: "file")
    )
    var config = ServiceConfiguration.path

    @Flag(name: .customLong("check-config"), help: "Checks this file, says what is wrong with it, and ends.")
    var checksConfiguration = false

    @Option(
        help: ArgumentHelp(
            "Leaves when nobody is connected for so long; 0 stays. Otherwise as the file says.",
            valueName: "seconds"
        )
    )
    var idle: Int?

    @Option(help: ArgumentHelp("The TPM, such as device:/dev/tpmrm0, or none.", valueName: "conf"))
    var tcti: String?

    @OptionGroup(title: "With --private") var choices: PrivateChoices

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
        ThisProcess.freeLargeBlocksAtOnce()
        GLibExecutor.ownContext()
        do {
            let command = try parse()
            try await command.run()
            _exit(0)
        } catch {
            exit(withError: error)
        }
    }

    func run() async throws {
        if checksConfiguration {
            check(config)
        } else if let descriptor = `private` {
            try await PrivateService(descriptor: descriptor, configuration: choices.configuration(tpm: tcti))
                .run()
        } else {
            try await SystemService(
                configuration: configuration(),
                stateRoot: stateRoot,
                tpm: tcti,
                allowsVirtualReaders: allowVirtualReaders,
                builtInReaders: builtInReaders
            ).run()
        }
    }

    /// Prints one line for each unknown name, or for the reason why the service would not start.
    private func check(_ path: String) {
        do throws(ConfigurationFault) {
            for warning in try ServiceConfiguration.read(path).warnings { Self.say(warning) }
        } catch {
            Self.say(error.description)
            _exit(78)  // EX_CONFIG
        }
    }

    private static func say(_ text: String) {
        let line = text + "\n"
        // Writing to a closed pipe fails, and loses nothing.
        _ = write(STDOUT_FILENO, line, line.utf8.count)
    }

    /// Reads the choices; the program ends where the file is not in order, and does not go on with others.
    private func configuration() -> ServiceConfiguration {
        do throws(ConfigurationFault) {
            let read = try ServiceConfiguration.read(config)
            for warning in read.warnings { ServiceManager.log(.warning, warning) }
            var configuration = read.configuration
            if let idle { configuration.idleSeconds = idle }
            return configuration
        } catch {
            ServiceManager.log(.error, error.description)
            ListeningSocket.refuseWaiting()
            _exit(78)  // EX_CONFIG
        }
    }
}

/// The choices of a program that starts this one as its child.
struct PrivateChoices: ParsableArguments {
    @Option(name: .customLong("state-dir"), help: ArgumentHelp("Where the state lies.", valueName: "dir"))
    var stateDirectory: String?

    @Option(help: ArgumentHelp("Whose fingers.", valueName: "name"))
    var profile: String?

    @Option(help: ArgumentHelp("The reader, as an id or mock:SCRIPT.", valueName: "id"))
    var reader: String?

    /// Returns the configuration of the engine; the options win over the variables.
    func configuration(tpm: String?) -> SystemConfiguration {
        var configuration = SystemConfiguration()
        if let stateDirectory { configuration.stateDirectory = stateDirectory }
        if let profile { configuration.profile = profile }
        if let reader { configuration.reader = reader }
        if let tpm { configuration.tpm = tpm }
        return configuration
    }
}
