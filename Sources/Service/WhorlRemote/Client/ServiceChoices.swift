// SPDX-License-Identifier: Apache-2.0

package import WhorlService
import WhorlSupport

/// A program's settings for its services, each of which has a default.
///
/// The directory, profile, reader and TPM apply only to an engine that the user runs; the system service selects them
/// itself.
package struct ServiceChoices: Sendable, Hashable {
    /// The directory that stores the prints and the audit log.
    package var stateDirectory: String?
    /// The profile to which the fingers belong; `nil` means the user name.
    package var profile: String?
    /// The reader, as an ID or `mock:SCRIPT`; `nil` means the only connected reader.
    package var reader: String?
    /// The TPM, as a TCTI string or `none`; `nil` means `device:/dev/tpmrm0`.
    package var tpm: String?
    /// The requesting program; `nil` means the program's file name.
    package var application: ApplicationID?
    /// The additional keychain access groups that the program may use.
    package var accessGroups: [String]
    /// The variables passed to a private child in addition to these settings.
    let environment: [String: String]

    /// Reads the settings from environment variables: `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI`
    /// and `WHORL_ACCESS_GROUPS` (comma-separated names).
    package init(_ environment: [String: String] = ThisProcess.trustedEnvironment) {
        /// An empty variable counts as unset.
        func chosen(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        self.environment = environment
        stateDirectory = chosen("WHORL_STATE_DIR")
        profile = chosen("WHORL_PROFILE")
        reader = chosen("WHORL_READER")
        tpm = chosen("WHORL_TCTI")
        accessGroups = (environment["WHORL_ACCESS_GROUPS"] ?? "").split(separator: ",").map(String.init)
    }

    /// Whether options or variables select something that the system service selects itself.
    package var areForOwnEngine: Bool {
        stateDirectory != nil || profile != nil || reader != nil || tpm != nil
    }

    /// The settings, as arguments for a private child.
    ///
    /// They are passed as arguments, because a child with more privileges than its caller ignores the variables.
    var arguments: [String] {
        let options = [
            ("--state-dir", stateDirectory), ("--profile", profile), ("--reader", reader), ("--tcti", tpm),
        ]
        // The child loses the rights that this program's file grants, and with them the sign that it has more rights
        // than its caller.
        let rights = ThisProcess.isElevated ? ["--elevated"] : []
        return rights + options.flatMap { name, choice in choice.map { ["\(name)=\($0)"] } ?? [] }
    }

    /// Returns the place selected by `WHORL_SERVICE` or these settings.
    ///
    /// - Throws: `unknown` or `hasChoices` if the selection is invalid.
    package func place() throws(ServicePlace.Fault) -> ServicePlace {
        try ServicePlace(environment, hasChoices: areForOwnEngine)
    }

    /// Returns the services at the other end of a transport.
    package func services(over transport: any ServiceTransport) -> Services {
        .remote(
            profile: profile ?? ThisProcess.userName,
            application: application ?? ApplicationID(rawValue: ThisProcess.programName),
            accessGroups: accessGroups,
            over: transport
        )
    }
}
