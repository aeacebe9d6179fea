// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
internal import WhorlTPM
public import WhorlService
internal import WhorlSupport

/// The settings that a user or a program makes before Whorl starts, each of which has a default.
public struct SystemConfiguration: Sendable {
    /// The directory that stores the prints and the audit log; `nil` means `StateDirectory.standard(environment:)`.
    public var stateDirectory: String?
    /// The profile to which the fingers belong; `nil` means the user name.
    public var profile: String?
    /// The reader, as an ID or `mock:SCRIPT`; `nil` means the only connected reader.
    public var reader: String?
    /// The file that specifies the reader, if the requesting user cannot choose a different one.
    package var readerIsNamedIn: String?
    /// The system service's record of readers that others could open; `nil` in all other processes, because they do not
    /// own the readers.
    package var openReaders: OpenReaders?
    /// The machine's rules for failed attempts.
    package var attemptRules = AttemptRules.standard
    /// The time limits of proofs.
    package var proofLimits = ProofLimits.standard
    /// The strength that the machine requires of each touch.
    package var strength = TouchStrength.any
    /// The TPM, as a TCTI string or `none`; `nil` means `device:/dev/tpmrm0`.
    public var tpm: String?
    /// The requesting program; `nil` means the program's file name.
    public var application: ApplicationID?
    /// The keychain access groups that the program may use in addition to its own group, which has the program's name.
    public var accessGroups: [String]
    /// Whether a mock reader or one of libfprint's virtual readers may replace a real one if the user selects it.
    ///
    /// A privileged program sets this to `false`, because otherwise, a user who controls the program's environment
    /// could supply a finger.
    public var allowsTestReaders = true
    /// Whether a simulated TPM may replace a real one if the user selects it.
    ///
    /// As with readers, a privileged program sets this to `false`.
    public var allowsSimulatedTPM = true
    /// The environment variables that apply to the settings above that are `nil`, and to the location of the state
    /// directory.
    public var environment: [String: String]

    /// Creates a configuration from the variables `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI` and
    /// `WHORL_ACCESS_GROUPS` (comma-separated names) of an environment.
    ///
    /// - Parameter environment: The environment, which is usually ``processEnvironment``.
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

    /// The profile that applies.
    var chosenProfile: String { profile ?? ThisProcess.userName }

    /// The requesting program.
    var chosenApplication: ApplicationID {
        application ?? ApplicationID(rawValue: ThisProcess.programName)
    }

    /// This process's environment.
    ///
    /// It is empty if the process has more privileges than the user who started it (set-user-ID, file capabilities),
    /// because that user can set the variables.
    public static var processEnvironment: [String: String] {
        ThisProcess.trustedEnvironment
    }
}

extension Optional where Wrapped == String {
    /// The text; `nil` if it is empty, because an empty variable counts as unset.
    fileprivate var nonEmpty: String? { self?.isEmpty ?? true ? nil : self }
}
