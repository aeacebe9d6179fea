// SPDX-License-Identifier: Apache-2.0

public import Authentication
internal import Foundation
internal import WhorlSupport

/// What a person or a program chooses before Whorl starts; every choice has a default.
public struct SystemConfiguration: Sendable {
    /// Where prints and the audit log live; `nil` means `StateDirectory.standard(environment:)`.
    public var stateDirectory: String?
    /// Whose fingers; `nil` means the user's name.
    public var profile: String?
    /// Which reader: an id, or `mock:SCRIPT`; `nil` means the only one that is connected.
    public var reader: String?
    /// Which TPM: a TCTI string such as `device:/dev/tpmrm0`, or `none`; `nil` means that one.
    public var tpm: String?
    /// The program that asks; `nil` means the name of its file.
    public var application: ApplicationID?
    /// The keychain's access groups that the program may use besides its own, which has the program's name.
    public var accessGroups: [String]
    /// Whether a mock or one of libfprint's virtual readers may stand in for a real one where somebody named it.
    ///
    /// A privileged program sets it to `false`: whoever can set its environment could otherwise bring a finger
    /// along.
    public var allowsPretendedReaders = true
    /// Whether a simulated TPM may stand in for a chip where somebody named it; as for readers, a privileged program
    /// allows none.
    public var allowsSimulatedTPM = true
    /// The variables that fill what is `nil` above, and that find the state directory.
    public var environment: [String: String]

    /// Takes `WHORL_STATE_DIR`, `WHORL_PROFILE`, `WHORL_READER`, `WHORL_TCTI` and `WHORL_ACCESS_GROUPS` (names
    /// with commas between them) from an environment.
    ///
    /// - Parameter environment: Usually ``processEnvironment``.
    public init(environment: [String: String] = SystemConfiguration.processEnvironment) {
        self.environment = environment
        stateDirectory = environment["WHORL_STATE_DIR"].nonEmpty
        profile = environment["WHORL_PROFILE"].nonEmpty
        reader = environment["WHORL_READER"].nonEmpty
        tpm = environment["WHORL_TCTI"].nonEmpty
        accessGroups = (environment["WHORL_ACCESS_GROUPS"] ?? "").split(separator: ",").map(String.init)
        allowsPretendedReaders = !ThisProcess.isElevated
        allowsSimulatedTPM = !ThisProcess.isElevated
    }

    /// This process's environment; empty when the process has more rights than whoever started it (set-user-ID, file
    /// capabilities), since that person chose the variables.
    public static var processEnvironment: [String: String] {
        ThisProcess.isElevated ? [:] : ProcessInfo.processInfo.environment
    }
}

extension Optional where Wrapped == String {
    /// `nil` for an empty text, which in a variable means that it is not set.
    fileprivate var nonEmpty: String? { self?.isEmpty ?? true ? nil : self }
}
