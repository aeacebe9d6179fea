// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService
import WhorlSupport

/// The place where the engine runs: this process, a private child, or the system service.
package enum ServicePlace: String, Sendable {
    /// In this process.
    case inProcess = "in-process"
    /// In a child of this process, with the user's own directory.
    case privateChild = "private"
    /// In the system service.
    case system = "system"

    /// An error in selecting a place.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// `WHORL_SERVICE` has this value, which is not the name of a place.
        case unknown(String)
        /// The system service was selected together with a directory, a profile, a reader or a TPM.
        case hasChoices
        /// The program `whorld` is missing or cannot be started, for this reason.
        case noChild(String)
        /// This program was built without the engine, and no service is installed.
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

    /// Selects the place by `WHORL_SERVICE`; by default the system service if it is installed, otherwise this process.
    ///
    /// If the service is installed and does not answer, each call fails: there is no silent fallback to a weaker place.
    /// A directory, a profile, a reader or a TPM can be selected only for an engine run by the user.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - hasChoices: Whether options or variables select parts that the system service selects itself.
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
    /// - Parameter choices: The settings of a private child.
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

/// A transport for an invalid selection: each call fails, without a fallback to another place.
package struct RefusedTransport: ServiceTransport {
    private let fault: ServicePlace.Fault

    /// Creates a transport that fails with this error.
    package init(_ fault: ServicePlace.Fault) { self.fault = fault }

    package func connect() throws(SystemCallError) -> Descriptor {
        throw SystemCallError(missing: fault.description)
    }
}

extension Services {
    /// The services of a program that is built without the engine: those of the system service, or of a private child
    /// if `WHORL_SERVICE` selects one.
    ///
    /// Variables that select a directory, a profile, a reader or a TPM are for a private child. An invalid selection
    /// makes each call fail.
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
    /// Shows the prompts of this session's programs, for the system service, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - onRegistration: Called once, as soon as prompts will be shown.
    /// - Throws: The reason why no prompt is shown, or is no longer shown.
    package static func showPrompts(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) {
        try await RemoteAgent(over: PathTransport()).run(on: presenter, onRegistration: onRegistration)
    }
}
