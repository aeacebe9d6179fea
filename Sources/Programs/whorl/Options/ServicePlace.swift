// SPDX-License-Identifier: Apache-2.0

import WhorlRemote
import WhorlSupport
import WhorlSystem

/// The place of the engine that answers: this process, a private child, or the system's service.
enum ServicePlace: Sendable {
    /// In this process.
    case inProcess
    /// In a child of this process.
    case child(any ServiceTransport)
    /// In the system's service.
    case system(any ServiceTransport)

    /// The transport to the other process; `nil` where it is this one.
    var transport: (any ServiceTransport)? {
        switch self {
        case .inProcess: nil
        case .child(let transport), .system(let transport): transport
        }
    }

    /// Chooses by WHORL_SERVICE; without it the system's service where one is installed, else this process.
    ///
    /// A service that is installed and does not answer is an error: a weaker place is never taken silently. Choices of
    /// a directory, a profile, a reader or a TPM are for an engine of the user's own.
    init(_ configuration: SystemConfiguration) throws(Failure) {
        switch configuration.environment["WHORL_SERVICE"] ?? "" {
        case "" where !configuration.hasChoices && PathTransport.isInstalled: self = .system(PathTransport())
        case "", "in-process": self = .inProcess
        case "private": self = .child(try Self.child(configuration))
        case "system" where configuration.hasChoices:
            throw .usage(
                "The system's service has a directory, a profile, a reader and a TPM of its own.",
                hint: "Leave these options and variables out, or set WHORL_SERVICE=in-process."
            )
        case "system": self = .system(PathTransport())
        case let other:
            throw .usage(
                "WHORL_SERVICE is “\(DisplayText.clean(other, limit: 40))”.",
                hint: "It is system, private or in-process."
            )
        }
    }

    private static func child(_ configuration: SystemConfiguration) throws(Failure) -> any ServiceTransport {
        var environment = configuration.environment
        let choices = [
            "WHORL_STATE_DIR": configuration.stateDirectory, "WHORL_PROFILE": configuration.profile,
            "WHORL_READER": configuration.reader, "WHORL_TCTI": configuration.tpm,
        ]
        for (name, choice) in choices { environment[name] = choice ?? environment[name] }
        do throws(PrivateChild.Fault) {
            return try PrivateChild.start(environment: environment).transport
        } catch {
            throw Failure(
                code: "incomplete",
                rawValue: nil,
                status: .failure,
                message: "The program whorld, which belongs to this one, could not be started.",
                reason: "\(error)",
                recovery: "Install Whorl again as a whole, or unset WHORL_SERVICE."
            )
        }
    }
}

extension SystemConfiguration {
    /// Whether options or variables choose parts that the system's service chooses itself.
    fileprivate var hasChoices: Bool {
        stateDirectory != nil || profile != nil || reader != nil || tpm != nil
    }
}
