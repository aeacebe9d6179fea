// SPDX-License-Identifier: Apache-2.0

import WhorlIPC

/// A method of the service, with the forms of what it takes and gives.
struct ServiceMethod<Parameters: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    /// The qualified name, such as `io.whorl.Owner.Evaluate`.
    let name: String
    /// Whether the method may be called again where no answer came, since the second call does what the first one did.
    let isRepeatable: Bool
    /// Whether the service looks at the process that calls, and not at its user alone.
    let isAboutProcess: Bool
    /// The most descriptors that the method takes beside a call, such as secrets.
    let mostDescriptors: Int

    init(_ name: String, taking mostDescriptors: Int = 0, isAboutProcess: Bool = true) {
        self.name = name
        self.isAboutProcess = isAboutProcess
        self.mostDescriptors = mostDescriptors
        isRepeatable = false
    }

    /// Describes a method that may be called twice: it changes nothing, or makes the same change again.
    init(repeatable name: String, taking mostDescriptors: Int = 0, isAboutProcess: Bool = true) {
        self.name = name
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
