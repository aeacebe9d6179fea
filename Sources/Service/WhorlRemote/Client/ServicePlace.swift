// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService
import WhorlSupport

/// The process in which the engine runs: this one, a private child, or the system service.
package enum ServicePlace: String, Sendable {
    /// The engine runs in this process.
    case inProcess = "in-process"
    /// The engine runs in a child of this process, with the user's own directory.
    case privateChild = "private"
    /// The engine runs in the system service.
    case system = "system"

    /// An error in selecting a place.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The variable `WHORL_SERVICE` has this value, which is not the name of a place.
        case unknown(String)
        /// The system service was selected together with a directory, a profile, a reader or a TPM.
        case hasChoices
        /// The program `whorld` is not installed or cannot be started, for this reason.
        case noChild(String)
        /// This program was built without the engine, and the service is not installed.
        case noEngine

        /// One sentence that describes the error, for logs and causes.
        package var description: String {
            switch self {
            case .unknown(let other):
                "WHORL_SERVICE is “\(DisplayText.clean(other, limit: 40))”, which is not a valid place"
            case .hasChoices: "the system service uses its own directory, profile, reader and TPM"
            case .noChild(let reason): "the program whorld could not be started: \(reason)"
            case .noEngine: "this program contains no engine, and the service whorld is not installed"
            }
        }
    }

    /// Selects the place according to `WHORL_SERVICE`.
    ///
    /// The default is the system service if it is installed, otherwise this process.
    ///
    /// If the service is installed but does not answer, each call fails instead of silently falling back to a weaker
    /// place. A directory, a profile, a reader or a TPM can be selected only for an engine that the user runs.
    ///
    /// - Parameters:
    ///   - environment: The environment variables.
    ///   - hasChoices: Whether options or variables select something that the system service selects itself.
    /// - Throws: `unknown` or `hasChoices` if the selection is invalid.
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
    /// - Parameter choices: The settings of a private child.
    /// - Returns: The transport.
    /// - Throws: `noChild` if the child cannot be started; `noEngine` if the place is this process.
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

/// A transport for an invalid selection.
///
/// Each call fails instead of falling back to another place.
package struct RefusedTransport: ServiceTransport {
    private let fault: ServicePlace.Fault

    /// Creates a transport whose calls fail with an error.
    package init(_ fault: ServicePlace.Fault) { self.fault = fault }

    package func connect() throws(SystemCallError) -> Descriptor {
        throw SystemCallError(missing: fault.description)
    }
}

extension Services {
    /// The services for a program that is built without the engine: those of the system service, or of a private child
    /// if `WHORL_SERVICE` selects one.
    ///
    /// Variables that select a directory, a profile, a reader or a TPM apply to a private child. If the selection is
    /// invalid, each call fails.
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
    /// Shows the prompts of this session's programs on behalf of the system service until the task is cancelled.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - onRegistration: Called once, when the registration has taken effect.
    /// - Throws: The error that explains why prompts are not shown, or no longer shown.
    package static func showPrompts(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) {
        try await RemoteAgent(over: PathTransport()).run(on: presenter, onRegistration: onRegistration)
    }
}
