// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService
import WhorlSupport

/// The place of the engine that answers: this process, a private child, or the system's service.
package enum ServicePlace: String, Sendable {
    /// In this process.
    case inProcess = "in-process"
    /// In a child of this process, which uses the user's own directory.
    case privateChild = "private"
    /// In the system's service.
    case system = "system"

    /// An error of choosing a place.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// WHORL_SERVICE has this value, which names no place.
        case unknown(String)
        /// The system's service is named together with a directory, a profile, a reader or a TPM of the user's own.
        case hasChoices
        /// The program whorld is missing, or cannot be started, for this reason.
        case noChild(String)
        /// This program was built without the engine, and no service is installed that could answer.
        case noEngine

        /// One sentence, for logs and causes.
        package var description: String {
            switch self {
            case .unknown(let other):
                "WHORL_SERVICE is “\(DisplayText.clean(other, limit: 40))”, which is no place"
            case .hasChoices: "the system service uses its own directory, profile, reader and TPM"
            case .noChild(let reason): "the program whorld could not be started: \(reason)"
            case .noEngine: "this program contains no engine, and the service whorld is not installed"
            }
        }
    }

    /// Chooses by WHORL_SERVICE; without it the system's service where one is installed, else this process.
    ///
    /// A service that is installed and does not answer is an error of each call: a weaker place is never taken silently.
    /// Choices of a directory, a profile, a reader or a TPM are for an engine of the user's own.
    ///
    /// - Parameters:
    ///   - environment: The variables that supply the choice.
    ///   - hasChoices: Whether options or variables choose parts that the system's service chooses itself.
    /// - Throws: `unknown`, `hasChoices`.
    package init(_ environment: [String: String], hasChoices: Bool) throws(Fault) {
        let wanted = environment["WHORL_SERVICE"] ?? ""
        guard !wanted.isEmpty else {
            self = !hasChoices && ServiceInstallation().isInstalled ? .system : .inProcess
            return
        }
        guard let place = ServicePlace(rawValue: wanted) else { throw .unknown(wanted) }
        guard place != .system || !hasChoices else { throw .hasChoices }
        self = place
    }

    /// Returns the transport to an engine in another process.
    ///
    /// - Parameter choices: The choices of a private child.
    /// - Returns: The transport.
    /// - Throws: `noChild`; `noEngine` for this process.
    package func transport(_ choices: ServiceChoices) throws(Fault) -> any ServiceTransport {
        switch self {
        case .inProcess: throw .noEngine
        case .system: return PathTransport()
        case .privateChild:
            do throws(PrivateChild.Fault) {
                return try PrivateChild.start(choices).transport
            } catch {
                throw .noChild("\(error)")
            }
        }
    }
}

/// A transport for a choice that cannot be met: each call fails, and none takes another place.
package struct RefusedTransport: ServiceTransport {
    private let fault: ServicePlace.Fault

    /// Names the fault.
    package init(_ fault: ServicePlace.Fault) { self.fault = fault }

    package func connect() throws(SystemCallError) -> Descriptor {
        throw SystemCallError(missing: fault.description)
    }
}

extension Services {
    /// The services of a program that is built without the engine: the system's, or a private child's where
    /// WHORL_SERVICE asks for one.
    ///
    /// Variables that choose a directory, a profile, a reader or a TPM are for a private child. A choice that cannot be met
    /// is an error of each call.
    package static let withoutEngine: Services = {
        let choices = ServiceChoices()
        do throws(ServicePlace.Fault) {
            return choices.services(over: try choices.place().transport(choices))
        } catch {
            return choices.services(over: RefusedTransport(error))
        }
    }()
}

extension ServicePlace {
    /// Shows the prompts of this session's programs, for the system's service, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Throws: the reason for which no prompt is shown, or is shown no longer.
    package static func showPrompts(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) {
        try await RemoteAgent(over: PathTransport()).run(on: presenter, onRegistration: onRegistration)
    }
}
