// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginAssertion
internal import LoginServer
internal import RelyingParty

/// The command `whorl-login-server device`.
struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists and revokes the devices of a user.",
        subcommands: [List.self, Revoke.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Lists a user's devices, one a line: name, key, when enabled, when last used, name for people."
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
                    lastUsedAt: $0.lastUsedAt
                )
            }
            try output.write("devices", rows) { row in
                [
                    row.device, row.keyID, OutputOptions.time(row.enabledAt),
                    row.lastUsedAt.map(OutputOptions.time) ?? "never", row.name,
                ]
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revokes a device, as where a laptop was stolen: it signs in no more, at once."
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        @Argument(help: "The device, as `device list` names it.")
        var device: String?

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
            guard let name = LoginName(device) else { throw ValidationError("That is no name of a device.") }
            try await devices.revoke(name, of: user)
        }
    }
}
