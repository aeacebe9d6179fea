// SPDX-License-Identifier: Apache-2.0

import WhorlIPC

/// The programs that may call a method.
///
/// No method serves a user number without an account, or a user of the system other than root.
enum AllowedCallers: Sendable, Hashable {
    /// Any program. A confined one gets only what belongs to it: the method's body looks at the confinement.
    case anyProgram
    /// Programs that are not confined.
    case unconfined
    /// Programs that are not confined, from a place that lets a finger be asked for: they open or reset the reader.
    case unconfinedAtReader
    /// Programs of root.
    case root
}

/// Who may call a method, and how.
struct MethodRule: Sendable, Hashable {
    let name: String
    let callers: AllowedCallers
    /// Whether the owner may be asked during the call; a finger only from a place that lets one be asked for.
    let asksOwner: Bool
    /// Whether a client may call again where no answer came.
    let isRepeatable: Bool

    init<Parameters, Reply>(_ method: ServiceMethod<Parameters, Reply>) {
        name = method.name
        callers = method.callers
        asksOwner = Parameters.self is any PromptingCall.Type
        isRepeatable = method.isRepeatable
    }
}

/// A method of the service, with the forms of what it takes and gives, and who may call it.
struct ServiceMethod<Parameters: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    /// The qualified name, such as `io.whorl.Owner.Evaluate`.
    let name: String
    /// The programs that may call the method.
    let callers: AllowedCallers
    /// Whether the method may be called again where no answer came, since the second call does what the first one did.
    let isRepeatable: Bool
    /// Whether the service looks at the process that calls, and not at its user alone.
    let isAboutProcess: Bool
    /// The most descriptors that the method takes beside a call, such as secrets.
    let mostDescriptors: Int

    init(
        _ name: String,
        by callers: AllowedCallers,
        taking mostDescriptors: Int = 0,
        isAboutProcess: Bool = true
    ) {
        self.name = name
        self.callers = callers
        self.isAboutProcess = isAboutProcess
        self.mostDescriptors = mostDescriptors
        isRepeatable = false
    }

    /// Describes a method that may be called twice: it changes nothing, or makes the same change again.
    init(
        repeatable name: String,
        by callers: AllowedCallers,
        taking mostDescriptors: Int = 0,
        isAboutProcess: Bool = true
    ) {
        self.name = name
        self.callers = callers
        self.isAboutProcess = isAboutProcess
        self.mostDescriptors = mostDescriptors
        isRepeatable = true
    }
}

/// A reply or a parameter that is one value.
struct Valued<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// A reply or a parameter that is one value, or none.
struct Optionally<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value?

    init(_ value: Value?) { self.value = value }
}

/// The texts of the interfaces, which are the `.varlink` files beside this one.
enum InterfaceText {
    /// The names and texts.
    static let all: [(name: String, text: String)] = [
        ("io.whorl", text(PackageResources.io_whorl_varlink)),
        ("io.whorl.Owner", text(PackageResources.io_whorl_Owner_varlink)),
        ("io.whorl.Items", text(PackageResources.io_whorl_Items_varlink)),
        ("io.whorl.Keychain", text(PackageResources.io_whorl_Keychain_varlink)),
        ("io.whorl.Fingers", text(PackageResources.io_whorl_Fingers_varlink)),
        ("io.whorl.Passcode", text(PackageResources.io_whorl_Passcode_varlink)),
        ("io.whorl.Keyring", text(PackageResources.io_whorl_Keyring_varlink)),
        ("io.whorl.Prompt", text(PackageResources.io_whorl_Prompt_varlink)),
        ("io.whorl.Agent", text(PackageResources.io_whorl_Agent_varlink)),
        ("io.whorl.Login", text(PackageResources.io_whorl_Login_varlink)),
        ("io.whorl.Maintenance", text(PackageResources.io_whorl_Maintenance_varlink)),
        ("io.whorl.Readers", text(PackageResources.io_whorl_Readers_varlink)),
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
