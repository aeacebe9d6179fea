// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
internal import WhorlTPM
public import WhorlService
internal import WhorlSupport

/// A user's or a program's settings before Whorl starts; every setting has a default.
public struct SystemConfiguration: Sendable {
    /// The directory of prints and the audit log; `nil` means `StateDirectory.standard(environment:)`.
    public var stateDirectory: String?
    /// The profile that holds the fingers; `nil` means the user name.
    public var profile: String?
    /// The reader, as an ID or `mock:SCRIPT`; `nil` means the only connected one.
    public var reader: String?
    /// The file that names the reader, if the requesting user cannot name another one.
    package var readerIsNamedIn: String?
    /// The record of readers that were found open, in the system service, which owns the readers; `nil` in all other
    /// processes.
    package var openReaders: OpenReaders?
    /// The machine's rules for failed attempts.
    package var attemptRules = AttemptRules.standard
    /// The time limits of proofs.
    package var proofLimits = ProofLimits.standard
    /// The strength that the machine requires of each touch.
    package var strength = TouchStrength.any
    /// The TPM, as a TCTI string or `none`; `nil` means `device:/dev/tpmrm0`.
    public var tpm: String?
    /// The requesting program; `nil` means the name of its file.
    public var application: ApplicationID?
    /// The additional keychain access groups that the program may use; its own group has the program's name.
    public var accessGroups: [String]
    /// Whether a mock or one of libfprint's virtual readers may replace a real one if it is named.
    ///
    /// A privileged program sets it to `false`: otherwise, a user who can set its environment could supply a finger.
    public var allowsTestReaders = true
    /// Whether a simulated TPM may replace a real one if it is named; a privileged program does not allow it, as with
    /// readers.
    public var allowsSimulatedTPM = true
    /// The variables for the settings above that are `nil`, and for the location of the state directory.
    public var environment: [String: String]

    /// Creates a configuration from the variables `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI` and
    /// `WHORL_ACCESS_GROUPS` (comma-separated names) of an environment.
    ///
    /// - Parameter environment: Usually ``processEnvironment``.
    public init(environment: [String: String] = SystemConfiguration.processEnvironment) {
        self.environment = environment
        stateDirectory = environment["WHORL_STATE_DIR"].nonEmpty
        profile = environment["WHORL_PROFILE"].nonEmpty
        reader = environment["WHORL_READER"].nonEmpty
        tpm = environment["WHORL_TCTI"].nonEmpty
        accessGroups = (environment["WHORL_ACCESS_GROUPS"] ?? "").split(separator: ",").map(String.init)
        allowsTestReaders = !ThisProcess.isElevated
        allowsSimulatedTPM = !ThisProcess.isElevated
    }

    /// The selected profile.
    var chosenProfile: String { profile ?? ThisProcess.userName }

    /// The requesting program.
    var chosenApplication: ApplicationID {
        application ?? ApplicationID(rawValue: ThisProcess.programName)
    }

    /// This process's environment.
    ///
    /// It is empty if the process has more rights than the user who started it (set-user-ID, file capabilities),
    /// because that user chose the variables.
    public static var processEnvironment: [String: String] {
        ThisProcess.trustedEnvironment
    }
}

extension Optional where Wrapped == String {
    /// The text, or `nil` if it is empty, because an empty variable counts as unset.
    fileprivate var nonEmpty: String? { self?.isEmpty ?? true ? nil : self }
}
