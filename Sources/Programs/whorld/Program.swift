// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Glibc
import WhorlCallers
import WhorlSupport
import WhorlSystem

/// The service, which runs the engine behind a socket.
///
/// Programs get the data that a touch unlocks, but not the keys to it.
@main
struct Whorld {
    let arguments: Arguments

    static func main() async {
        guard ThisProcess.hideMemory() else { _exit(71) }  // EX_OSERR
        signal(SIGPIPE, SIG_IGN)
        ThisProcess.keepHeapSmall()
        let arguments: Arguments
        do throws(Arguments.Fault) {
            arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            say("whorld: \(error)\nSee whorld --help.", on: STDERR_FILENO)
            _exit(64)  // EX_USAGE
        }
        GLibExecutor.ownContext()
        do {
            try await Whorld(arguments: arguments).run()
            _exit(0)
        } catch let fault as PrivateService.Fault {
            say("whorld: \(fault)", on: STDERR_FILENO)
            _exit(fault.status)
        } catch {
            say("whorld: \(error)", on: STDERR_FILENO)
            _exit(1)
        }
    }

    func run() async throws {
        if let text = arguments.text {
            Self.say(text)
        } else if arguments.checksConfiguration {
            check(arguments.configurationFile)
        } else if let descriptor = arguments.privateDescriptor {
            try await PrivateService(descriptor: descriptor, configuration: arguments.engine).run()
        } else {
            try await SystemService(configuration: configuration(), arguments: arguments).run()
        }
    }

    /// Checks a configuration file: prints one line for each unknown name, or the reason why the service would not
    /// start.
    private func check(_ path: String) {
        func tell(_ text: String) { Self.say(DisplayText.clean(text, limit: 1000)) }
        do throws(ConfigurationFault) {
            let read = try ServiceConfiguration.read(path)
            for warning in read.warnings { tell(warning) }
            if !read.hasFile { tell("\(path) not found; using the defaults.") }
        } catch {
            tell(error.description)
            _exit(78)  // EX_CONFIG
        }
    }

    private static func say(_ text: String, on descriptor: CInt = STDOUT_FILENO) {
        let line = text + "\n"
        // Writing to a closed pipe fails without harm.
        _ = write(descriptor, line, line.utf8.count)
    }

    /// Returns the settings.
    ///
    /// If the file is invalid, the program exits instead of using the defaults.
    private func configuration() -> ServiceConfiguration {
        do throws(ConfigurationFault) {
            let read = try ServiceConfiguration.read(arguments.configurationFile)
            for warning in read.warnings { ServiceManager.log(.warning, warning) }
            var configuration = read.configuration
            if let idle = arguments.idleSeconds { configuration.idleSeconds = idle }
            return configuration
        } catch {
            ServiceManager.log(.error, error.description)
            ListeningSocket.refuseWaiting()
            _exit(78)  // EX_CONFIG
        }
    }
}
