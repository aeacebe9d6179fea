// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginAssertion
internal import LoginServer
internal import RelyingParty

/// The command `whorl-login-server audit`.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the audit log, newest first: time, event, user, device, address, reason"
    )
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Only entries about this user")
    var user: String?

    @Option(help: ArgumentHelp("Maximum number of entries", valueName: "number"))
    var count = 100

    private struct Row: Encodable {
        let at: Int
        let event: String
        let user: String?
        let device: String?
        let address: String?
        let reason: String?

        init(_ entry: AuditEntry) {
            at = entry.at
            event = entry.event.rawValue
            user = entry.user?.text
            device = entry.device?.text
            address = entry.address.isEmpty ? nil : entry.address
            reason = entry.reason
        }
    }

    func validate() throws {
        guard (1...1_000_000).contains(count) else {
            throw ValidationError("--count must be 1 to 1,000,000.")
        }
        if let user, LoginName(user) == nil { throw ValidationError("Invalid user name in --user.") }
    }

    func run() async throws {
        let devices = DevicesCommand(store: try await store.open())
        let entries = try await devices.audit(of: user.flatMap(LoginName.init), atMost: count)
        try output.write("entries", entries.map(Row.init)) { row in
            [
                OutputOptions.time(row.at), row.event, row.user ?? "-", row.device ?? "-", row.address ?? "-",
                row.reason ?? "-",
            ]
        }
    }
}
