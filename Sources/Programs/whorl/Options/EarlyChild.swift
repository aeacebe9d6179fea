// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlRemote
import WhorlSupport

/// The child process that runs the engine.
///
/// It starts while the arguments are still being parsed, because both take a few milliseconds.
///
/// Whether a child is needed is a guess until the arguments are parsed. An unused child exits with this program.
enum EarlyChild {
    private struct Started {
        let choices: ServiceChoices
        let transport: any ServiceTransport
    }

    private static let started = Mutex<Started?>(nil)

    /// Starts a child if the command uses an engine and the system service is neither installed nor selected.
    ///
    /// - Parameters:
    ///   - command: The intended command, as far as it could be recognized.
    ///   - arguments: The program's arguments.
    static func begin(_ command: IntendedCommand, _ arguments: [String]) {
        guard command.asksEngine(arguments) else { return }
        var choices = ServiceChoices()
        choices.take(arguments)
        // An error is reported when the command makes its request.
        guard let place = try? choices.place(), place != .system,
            let transport = try? ServicePlace.privateChild.transport(choices)
        else { return }
        started.withLock { $0 = Started(choices: choices, transport: transport) }
    }

    /// Takes over the child that was started with these settings; returns `nil` if there is none.
    static func take(_ choices: ServiceChoices) -> (any ServiceTransport)? {
        let started = started.withLock { started in
            defer { started = nil }
            return started
        }
        return started.flatMap { $0.choices == choices ? $0.transport : nil }
    }
}

extension ServiceChoices {
    /// Parses the options for settings, as `--name value` or `--name=value`; the last occurrence of an option wins.
    fileprivate mutating func take(_ arguments: [String]) {
        let names: [String: WritableKeyPath<ServiceChoices, String?>] = [
            "--state-dir": \.stateDirectory, "--profile": \.profile, "--reader": \.reader, "--tcti": \.tpm,
        ]
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let path = names[String(parts[0])] else { continue }
            if parts.count == 2 {
                self[keyPath: path] = String(parts[1])
            } else if arguments.indices.contains(index + 1) {
                self[keyPath: path] = arguments[index + 1]
            }
        }
    }
}
