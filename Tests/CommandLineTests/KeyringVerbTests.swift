// SPDX-License-Identifier: Apache-2.0

import Testing

/// `whorl keyring` in sessions of different desktops, in which no keyring is running.
@Suite(.timeLimit(.minutes(60)))
struct KeyringVerbTests {
    private func run(_ verb: String, on desktop: String, _ more: String...)
        async throws
        -> WhorlProgram.Outcome
    {
        let program = try WhorlProgram()
        let environment = ["XDG_CURRENT_DESKTOP": desktop, "XDG_RUNTIME_DIR": program.home]
        return try await program.run(
            ["keyring", verb] + more,
            reader: "mock:match",
            environment: environment
        )
    }

    @Test func `under Plasma the state says that a touch on demand requires gnome-keyring`() async throws {
        for desktop in ["KDE", "KDE:Plasma"] {
            let outcome = try await run("status", on: desktop)
            #expect(outcome.status == 0 && outcome.lines.count == 2, "\(outcome)")
            #expect(outcome.out.contains("KWallet") && outcome.out.contains("--on-demand"), "\(outcome)")
        }
        for desktop in ["", "GNOME", "sway", "NOTKDE"] {
            let outcome = try await run("status", on: desktop)
            #expect(outcome.status == 0 && !outcome.out.contains("KWallet"), "\(outcome)")
        }
    }

    @Test func `without gnome-keyring a command that needs it names KWallet under Plasma`() async throws {
        for (desktop, expected) in [("KDE", "uses KWallet"), ("GNOME", "gnome-keyring does not respond")] {
            let outcome = try await run("unlock", on: desktop)
            #expect(outcome.status != 0 && outcome.err.contains(expected), "\(outcome)")
            let json = try await run("unlock", on: desktop, "--json")
            #expect(json.out.contains("\"code\":\"noKeyring\""), "\(json)")
        }
    }
}
