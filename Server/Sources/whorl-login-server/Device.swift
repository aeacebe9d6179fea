// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginAssertion
internal import LoginServer
internal import RelyingParty

/// The command `whorl-login-server device`.
struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage a user's devices",
        subcommands: [List.self, Approve.self, Revoke.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "List a user's devices, one per line: name, key, approved by, attestation, enabled at, last used at, display name"
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
            abstract: "Approve a device's key; its tokens then include mfa if the password was sent as well",
            discussion: """
                Someone with a stolen password can enable a key that no TPM protects. Ask the user to read you the key ID \
                that `whorl login status --json` shows on the device, and approve that key.
                """
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        @Argument(help: "Device name, as shown by `device list`")
        var device: IdentifierArgument

        @Argument(help: "Key ID, as shown by the device itself")
        var key: IdentifierArgument

        func run() async throws {
            let user = try user.checked()
            guard let name = LoginName(device.text) else {
                throw ValidationError("Invalid device name.")
            }
            try await DevicesCommand(store: try await store.open()).approve(name, of: user, keyID: key.text)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a device, such as a stolen laptop; takes effect immediately"
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        @Argument(help: "Device name, as shown by `device list`")
        var device: IdentifierArgument?

        @Flag(help: "Revoke all of the user's devices")
        var all = false

        func validate() throws {
            guard (device == nil) == all else { throw ValidationError("Specify a device, or --all.") }
        }

        func run() async throws {
            let user = try user.checked()
            let devices = DevicesCommand(store: try await store.open())
            guard let device else {
                _ = try await devices.revokeAll(of: user)
                return
            }
            guard let name = LoginName(device.text) else {
                throw ValidationError("Invalid device name.")
            }
            try await devices.revoke(name, of: user)
        }
    }
}
