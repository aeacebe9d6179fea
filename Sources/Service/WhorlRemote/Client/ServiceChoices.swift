// SPDX-License-Identifier: Apache-2.0

package import WhorlService
import WhorlSupport

/// A program's settings for its services; each has a default.
///
/// A directory, a profile, a reader and a TPM are only for an engine run by the user: the system service has its own.
package struct ServiceChoices: Sendable, Hashable {
    /// The directory of prints and the audit log.
    package var stateDirectory: String?
    /// The profile that holds the fingers; `nil` means the user name.
    package var profile: String?
    /// The reader, as an ID or `mock:SCRIPT`; `nil` means the only connected one.
    package var reader: String?
    /// The TPM, as a TCTI string or `none`; `nil` means `device:/dev/tpmrm0`.
    package var tpm: String?
    /// The requesting program; `nil` means the name of its file.
    package var application: ApplicationID?
    /// The additional keychain access groups that the program may use.
    package var accessGroups: [String]
    /// The variables passed to a private child in addition to these settings.
    let environment: [String: String]

    /// Reads the settings from an environment: `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI` and
    /// `WHORL_ACCESS_GROUPS` (comma-separated names).
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

    /// Whether options or variables select parts that the system service selects itself.
    package var areForOwnEngine: Bool {
        stateDirectory != nil || profile != nil || reader != nil || tpm != nil
    }

    /// The settings as arguments for a private child.
    ///
    /// The child reads no variables if it has more rights than its caller.
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
    /// - Throws: `unknown`, `hasChoices`.
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
