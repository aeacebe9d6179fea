// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginAssertion
internal import LoginServer
internal import RelyingParty

/// The command `whorl-login-server device`.
struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists, approves and revokes the devices of a user.",
        subcommands: [List.self, Approve.self, Revoke.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Lists a user's devices, one a line: name, key, by whom approved, what its chip has proven, when enabled, when last used, name for people."
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var user: User.Name

        private struct Row: Encodable {
            let device: String
            let keyID: String
            let name: String
            let enabledAt: Int
            let lastUsedAt: Int?
            let approvedBy: String?
            let attested: String?
        }

        private static func word(for approval: RegisteredDevice.Approval) -> String {
            switch approval {
            case .byOperator: "operator"
            case .byDevice(let device): "device \(device.text)"
            }
        }

        func run() async throws {
            let user = try user.checked()
            let devices = try await DevicesCommand(store: try await store.open()).list(of: user)
            let rows = devices.map {
                Row(
                    device: $0.device.text,
                    keyID: $0.keyID,
                    name: $0.name,
                    enabledAt: $0.enabledAt,
                    lastUsedAt: $0.lastUsedAt,
                    approvedBy: $0.approval.map(Self.word(for:)),
                    attested: $0.attestation.map {
                        ([$0.level.rawValue] + $0.opensFor).joined(separator: " ")
                    }
                )
            }
            try output.write("devices", rows) { row in
                [
                    row.device, row.keyID, row.approvedBy ?? "not approved",
                    row.attested ?? "not attested",
                    OutputOptions.time(row.enabledAt),
                    row.lastUsedAt.map(OutputOptions.time) ?? "never", row.name,
                ]
            }
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Approves a device's key: its tokens say mfa then, where the password came too.",
            discussion: """
                A thief of the user's password can enable a key that is in no chip. Have the user read the key to you, as \
                `whorl login status --json` shows it on the device, and approve that one.
                """
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        @Argument(help: "The device, as `device list` names it.")
        var device: IdentifierArgument

        @Argument(help: "The key, as the device itself shows it.")
        var key: IdentifierArgument

        func run() async throws {
            let user = try user.checked()
            guard let name = LoginName(device.text) else {
                throw ValidationError("That is no name of a device.")
            }
            try await DevicesCommand(store: try await store.open()).approve(name, of: user, keyID: key.text)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revokes a device, as where a laptop was stolen: it signs in no more, at once."
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        @Argument(help: "The device, as `device list` names it.")
        var device: IdentifierArgument?

        @Flag(help: "Revoke all of the user's devices.")
        var all = false

        func validate() throws {
            guard (device == nil) == all else { throw ValidationError("Name one device, or give --all.") }
        }

        func run() async throws {
            let user = try user.checked()
            let devices = DevicesCommand(store: try await store.open())
            guard let device else {
                _ = try await devices.revokeAll(of: user)
                return
            }
            guard let name = LoginName(device.text) else {
                throw ValidationError("That is no name of a device.")
            }
            try await devices.revoke(name, of: user)
        }
    }
}
