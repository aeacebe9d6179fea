// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
internal import WhorlTPM
public import WhorlService
internal import WhorlSupport

/// The choices of a person or a program before Whorl starts; every choice has a default.
public struct SystemConfiguration: Sendable {
    /// The directory of prints and the audit log; `nil` means `StateDirectory.standard(environment:)`.
    public var stateDirectory: String?
    /// The profile whose fingers are meant; `nil` means the user's name.
    public var profile: String?
    /// The reader, as an id or `mock:SCRIPT`; `nil` means the only one that is connected.
    public var reader: String?
    /// The file that names the reader, where a person who asks cannot name another one.
    package var readerIsNamedIn: String?
    /// The record of readers that were found open, in the system's service, which owns the readers; `nil` in all other
    /// processes.
    package var openReaders: OpenReaders?
    /// The machine's rules for failed tries.
    package var attemptRules = AttemptRules.standard
    /// The time limits of proofs.
    package var proofLimits = ProofLimits.standard
    /// The strength that the machine demands of each touch.
    package var strength = TouchStrength.any
    /// The TPM, as a TCTI string or `none`; `nil` means `device:/dev/tpmrm0`.
    public var tpm: String?
    /// The program that asks; `nil` means the name of its file.
    public var application: ApplicationID?
    /// The keychain's access groups that the program may use in addition to its own, which has the program's name.
    public var accessGroups: [String]
    /// Whether a mock or one of libfprint's virtual readers may stand in for a real one if it is named.
    ///
    /// A privileged program sets it to `false`: otherwise a person who can set its environment could supply a finger.
    public var allowsTestReaders = true
    /// Whether a simulated TPM may stand in for a chip if it is named; as for readers, a privileged program allows
    /// none.
    public var allowsSimulatedTPM = true
    /// The variables that supply the choices that are `nil` above, and the place of the state directory.
    public var environment: [String: String]

    /// Makes a configuration from `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI` and
    /// `WHORL_ACCESS_GROUPS` (names with commas between them) of an environment.
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

    /// The profile that is meant.
    var chosenProfile: String { profile ?? ThisProcess.userName }

    /// The program that asks.
    var chosenApplication: ApplicationID {
        application ?? ApplicationID(rawValue: ThisProcess.programName)
    }

    /// This process's environment; empty when the process has more rights than the user who started it (set-user-ID,
    /// file capabilities), since that user chose the variables.
    public static var processEnvironment: [String: String] {
        ThisProcess.trustedEnvironment
    }
}

extension Optional where Wrapped == String {
    /// The text, or `nil` if it is empty, since an empty variable counts as not set.
    fileprivate var nonEmpty: String? { self?.isEmpty ?? true ? nil : self }
}
