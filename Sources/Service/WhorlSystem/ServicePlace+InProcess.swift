// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

extension ServicePlace {
    /// Chooses the place for a configuration.
    package init(_ configuration: SystemConfiguration) throws(Fault) {
        try self.init(configuration.environment, hasChoices: configuration.hasChoices)
    }

    /// Returns the services at the place.
    ///
    /// - Parameters:
    ///   - configuration: The choices, which a child gets as variables.
    ///   - root: Makes the root of this process, where it is the place that answers.
    /// - Returns: The services.
    /// - Throws: `noChild`.
    package func services(
        _ configuration: SystemConfiguration,
        inProcess root: () -> InProcessRoot
    ) throws(Fault) -> Services {
        if self == .inProcess { return root().services }
        return Self.remote(configuration, over: try transport(configuration.childEnvironment))
    }

    private static func remote(
        _ configuration: SystemConfiguration,
        over transport: any ServiceTransport
    ) -> Services {
        .remote(
            profile: configuration.chosenProfile,
            application: configuration.chosenApplication,
            accessGroups: configuration.accessGroups,
            over: transport
        )
    }

    /// The services that this process's environment chooses, for programs that do not choose themselves.
    ///
    /// A choice that cannot be met is an error of each call, and never another place.
    package static let ofProcess: Services = {
        let configuration = SystemConfiguration()
        do throws(Fault) {
            return try ServicePlace(configuration).services(configuration) { InProcessRoot.shared }
        } catch {
            return remote(configuration, over: RefusedTransport(error))
        }
    }()
}

extension SystemConfiguration {
    /// Whether options or variables choose parts that the system's service chooses itself.
    fileprivate var hasChoices: Bool {
        stateDirectory != nil || profile != nil || reader != nil || tpm != nil
    }

    /// The variables with the choices among them.
    fileprivate var childEnvironment: [String: String] {
        var variables = environment
        let choices = [
            "WHORL_STATE_DIR": stateDirectory, "WHORL_PROFILE": profile, "WHORL_READER": reader,
            "WHORL_TCTI": tpm,
        ]
        for (name, choice) in choices { variables[name] = choice ?? variables[name] }
        return variables
    }
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
