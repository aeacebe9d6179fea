// SPDX-License-Identifier: Apache-2.0

internal import WhorlIPC
internal import WhorlRemote
package import WhorlService

/// The place of the engine that answers: this process, a private child, or the system's service.
package enum ServicePlace: String, Sendable {
    /// In this process.
    case inProcess = "in-process"
    /// In a child of this process, which uses the user's own directory.
    case privateChild = "private"
    /// In the system's service.
    case system = "system"

    /// An error of choosing a place.
    package enum Fault: Error, Sendable, Hashable {
        /// WHORL_SERVICE has this value, which names no place.
        case unknown(String)
        /// The system's service is named together with a directory, a profile, a reader or a TPM of the user's own.
        case hasChoices
        /// The program whorld is missing, or cannot be started, for this reason.
        case noChild(String)
    }

    /// Chooses by WHORL_SERVICE; without it the system's service where one is installed, else this process.
    ///
    /// A service that is installed and does not answer is an error of each call: a weaker place is never taken silently.
    /// Choices of a directory, a profile, a reader or a TPM are for an engine of the user's own.
    package init(_ configuration: SystemConfiguration) throws(Fault) {
        let wanted = configuration.environment["WHORL_SERVICE"] ?? ""
        guard !wanted.isEmpty else {
            self = !configuration.hasChoices && PathTransport.isInstalled ? .system : .inProcess
            return
        }
        guard let place = ServicePlace(rawValue: wanted) else { throw .unknown(wanted) }
        guard place != .system || !configuration.hasChoices else { throw .hasChoices }
        self = place
    }

    /// Returns the services at the place.
    ///
    /// - Parameters:
    ///   - root: The root of this process, which answers where it is the place.
    ///   - configuration: The choices, which a child gets as variables.
    /// - Returns: The services.
    /// - Throws: `noChild`.
    package func services(
        _ root: InProcessRoot,
        _ configuration: SystemConfiguration
    ) throws(Fault) -> Services {
        let transport: any ServiceTransport
        switch self {
        case .inProcess: return root.services
        case .privateChild: transport = try Self.child(configuration)
        case .system: transport = PathTransport()
        }
        return Self.remote(root, over: transport)
    }

    private static func remote(_ root: InProcessRoot, over transport: any ServiceTransport) -> Services {
        .remote(
            profile: root.profile,
            application: root.application,
            accessGroups: root.accessGroups,
            over: transport
        )
    }

    private static func child(_ configuration: SystemConfiguration) throws(Fault) -> PairTransport {
        var environment = configuration.environment
        let choices = [
            "WHORL_STATE_DIR": configuration.stateDirectory, "WHORL_PROFILE": configuration.profile,
            "WHORL_READER": configuration.reader, "WHORL_TCTI": configuration.tpm,
        ]
        for (name, choice) in choices { environment[name] = choice ?? environment[name] }
        do throws(PrivateChild.Fault) {
            return try PrivateChild.start(environment: environment).transport
        } catch {
            throw .noChild("\(error)")
        }
    }

    /// Returns services of which each call fails, for a choice that cannot be met.
    private static func none(_ root: InProcessRoot, _ fault: Fault) -> Services {
        remote(root, over: RefusedTransport(fault: fault))
    }

    /// The services that this process's environment chooses, for programs that do not choose themselves.
    ///
    /// A choice that cannot be met is an error of each call, and never another place.
    package static let ofProcess: Services = {
        let configuration = SystemConfiguration()
        let root = InProcessRoot.shared
        do throws(Fault) {
            return try ServicePlace(configuration).services(root, configuration)
        } catch {
            return none(root, error)
        }
    }()
}

/// A transport for a choice that cannot be met.
private struct RefusedTransport: ServiceTransport {
    let fault: ServicePlace.Fault

    func connect() throws(SystemCallError) -> Descriptor {
        throw SystemCallError(missing: "WHORL_SERVICE: \(fault)")
    }
}

extension SystemConfiguration {
    /// Whether options or variables choose parts that the system's service chooses itself.
    fileprivate var hasChoices: Bool {
        stateDirectory != nil || profile != nil || reader != nil || tpm != nil
    }
}
