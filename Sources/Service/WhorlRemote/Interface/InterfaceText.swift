// SPDX-License-Identifier: Apache-2.0

/// The definitions of the interfaces, which are the `.varlink` files in this folder.
enum InterfaceText {
    /// The names and definitions of all interfaces.
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

    /// The name and definition of the interface that only a private child provides.
    static let ofPrivateChild = (
        name: "io.whorl.Private", text: text(PackageResources.io_whorl_Private_varlink)
    )

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
