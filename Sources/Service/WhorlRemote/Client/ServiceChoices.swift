// SPDX-License-Identifier: Apache-2.0

package import WhorlService
import WhorlSupport

/// The choices with which a program asks for its services; each has a default.
///
/// A directory, a profile, a reader and a TPM are for an engine of the user's own: the system's service has its own.
package struct ServiceChoices: Sendable, Hashable {
    /// The directory of prints and the audit log.
    package var stateDirectory: String?
    /// The profile whose fingers are meant; `nil` means the user's name.
    package var profile: String?
    /// The reader, as an id or `mock:SCRIPT`; `nil` means the only one that is connected.
    package var reader: String?
    /// The TPM, as a TCTI string or `none`; `nil` means `device:/dev/tpmrm0`.
    package var tpm: String?
    /// The program that asks; `nil` means the name of its file.
    package var application: ApplicationID?
    /// The keychain's access groups that the program may use in addition to its own.
    package var accessGroups: [String]
    /// The variables that a private child gets beside the choices.
    let environment: [String: String]

    /// Takes the choices of an environment: `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI` and
    /// `WHORL_ACCESS_GROUPS` (names with commas between them).
    package init(_ environment: [String: String] = ThisProcess.trustedEnvironment) {
        /// An empty variable counts as not set.
        func chosen(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        self.environment = environment
        stateDirectory = chosen("WHORL_STATE_DIR")
        profile = chosen("WHORL_PROFILE")
        reader = chosen("WHORL_READER")
        tpm = chosen("WHORL_TCTI")
        accessGroups = (environment["WHORL_ACCESS_GROUPS"] ?? "").split(separator: ",").map(String.init)
    }

    /// Whether options or variables choose parts that the system's service chooses itself.
    package var areForOwnEngine: Bool {
        stateDirectory != nil || profile != nil || reader != nil || tpm != nil
    }

    /// The choices as arguments of a private child, which reads no variables where it has more rights than its caller.
    var arguments: [String] {
        let options = [
            ("--state-dir", stateDirectory), ("--profile", profile), ("--reader", reader), ("--tcti", tpm),
        ]
        // The child loses what the file of this program gives it, and with that the sign that there is more than its caller has.
        let rights = ThisProcess.isElevated ? ["--elevated"] : []
        return rights + options.flatMap { name, choice in choice.map { ["\(name)=\($0)"] } ?? [] }
    }

    /// Returns the place that WHORL_SERVICE or the choices name.
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
