// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import WhorlSecretMemory

// The desktop keyring: the login password that a login by touch hands over, or the keyring's own password.

extension Operations {
    static let ofKeyring: [any ServiceOperation.Type] = [
        ReadKeyringStatus.self, TurnKeyringOn.self, TurnKeyringOff.self,
        MakeKeyringPassword.self, OpenKeyring.self, ForgetKeyringPassword.self,
    ]
}

/// Reads the state of the keyring.
///
/// Errors: a storage error.
public struct ReadKeyringStatus: ServiceOperation {
    public typealias Reply = Valued<KeyringStatus>
    public static let name = "io.whorl.Keyring.Status"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Prompts for a touch and turns the keyring on; has no further effect if the keyring is already on.
///
/// Errors: the reason why the owner was not authenticated; `noChip`, a storage error.
public struct TurnKeyringOn: OwnerOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Keyring.TurnOn"
    public static let rules = OperationRules(change: "turn the keyring on", "keyringOn", by: .unconfined)

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    public var purpose: String { "turn the keyring on or off" }
}

/// Prompts the owner, turns the keyring off, and deletes the sealed password.
///
/// Errors: the reason why the owner did not consent; a storage error.
public struct TurnKeyringOff: OwnerOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Keyring.TurnOff"
    public static let rules = OperationRules(change: "turn the keyring off", "keyringOff", by: .unconfined)

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    public var purpose: String { "turn the keyring on or off" }
}

/// Prompts the owner, makes a random password for the keyring, and returns it; a second call returns the same password.
///
/// The password is sealed for a finger or the passcode, and a copy of it is sealed under the login password. The caller
/// sets it as the password of the keyring. What ``TurnKeyringOn`` sealed is deleted. Errors: the reason why the owner
/// did not consent; `passcodeNotSet` if there is neither a passcode nor a recovery sheet, `biometryNotEnrolled` if there
/// is neither a finger nor a passcode, `passcodeWrongSize` for a login password of more than 1,024 bytes, `noChip`, a
/// storage error.
public struct MakeKeyringPassword: OwnerOperation {
    public typealias Reply = KeyringPassword
    public static let name = "io.whorl.Keyring.MakePassword"
    public static let rules = OperationRules(
        change: "make a password for the keyring",
        "keyringPasswordMade",
        by: .unconfined,
        attaching: .passcodes(1)
    )

    /// The login password, with which a login unlocks the keyring without a touch; `nil` for no copy.
    public let loginPassword: SecretBox?
    /// Whether the caller shows the password to the user, who keeps it on a recovery sheet.
    public let hasSheet: Bool
    public var request: ConsentRequest

    public init(loginPassword: SecretBox?, hasSheet: Bool, _ request: ConsentRequest) {
        self.loginPassword = loginPassword
        self.hasSheet = hasSheet
        self.request = request
    }

    public var purpose: String { "give the keyring its own password" }
}

/// Prompts for a finger or the passcode, and returns the keyring's own password.
///
/// Errors: the reason why the owner was not authenticated; `noSuchItem` if the keyring has no password of its own, and
/// those of ``UseItem``.
public struct OpenKeyring: OwnerOperation {
    public typealias Reply = KeyringPassword
    public static let name = "io.whorl.Keyring.Open"
    public static let rules = OperationRules(.once, by: .unconfined)

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    public var purpose: String { "unlock the keyring" }
}

/// Deletes the keyring's own password, after the caller has set another one.
///
/// There is no prompt: a program that has the password can set another one anyway. Errors: `accessDenied` for another
/// password, a storage error.
public struct ForgetKeyringPassword: ServiceOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Keyring.ForgetPassword"
    public static let rules = OperationRules(
        change: "delete the keyring's password",
        "keyringPasswordDeleted",
        by: .unconfined,
        attaching: .passcodes(1)
    )

    /// The password that ``MakeKeyringPassword`` returned.
    public let password: SecretBox

    public init(_ password: SecretBox) { self.password = password }
}

/// The keyring's own password: 39 ASCII characters, which its dialogs also accept.
public struct KeyringPassword: Codable, Sendable {
    public let password: SecretBox

    public init(_ password: SecretBox) { self.password = password }
}
