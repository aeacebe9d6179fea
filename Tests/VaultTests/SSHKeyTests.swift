// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing
import WhorlSQLite
import WhorlStateStore
import WhorlService

@testable import WhorlVault

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `The vault's SSH keys` {
    @Test func `sign the digests of requests, and no other ones`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let (ssh, key) = (try id(.sshKey, "x"), try id(.key, "x"))
        let made = try await vault.createKey(ssh, access: .biometryAny)
        let digest = Data(repeating: 7, count: 32)
        let signature = try await vault.sign(requestDigest: digest, with: ssh, shown: finger())
        #expect(made.isValid(signature, over: digest))
        #expect(try await vault.publicKey(of: ssh).x963 == made.x963)
        for id in [ssh, key] {
            #expect(
                await code { try await vault.sign(digest: digest, with: id, shown: finger()) } == .noSuchItem
            )
            #expect(await code { try await vault.secret(id, shown: finger()) } == .noSuchItem)
        }
        // A key beside it, with the same name, is another item, and signs no requests.
        _ = try await vault.createKey(key, access: .biometryAny)
        #expect(
            await code { try await vault.sign(requestDigest: digest, with: key, shown: finger()) }
                == .noSuchItem
        )
        #expect(
            await code { try await vault.sign(digest: digest, with: ssh, shown: finger()) } == .noSuchItem
        )
        #expect(try await vault.items(of: "ada").map(\.id) == [key, ssh])
        try await vault.delete(key)
        #expect(try await vault.items(of: "ada").map(\.id) == [ssh])
    }

    @Test func `are not signed with by a row that was renamed to another kind`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let (ssh, key) = (try id(.sshKey, "x"), try id(.key, "x"))
        try await vault.createKey(ssh, access: .biometryAny)
        try await vault.database.write(.full) { try $0.execute(sql: "UPDATE vault_items SET kind = 'key'") }
        let digest = Data(repeating: 7, count: 32)
        #expect(
            await code { try await vault.sign(digest: digest, with: key, shown: finger()) } == .itemTampered
        )
    }

    // Docs/Security.md: S62
    @Test func `have hosts that no one else has changed in the row`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let ssh = try id(.sshKey, "x")
        try await vault.createKey(ssh, access: .biometryAny, rules: .init(allowsUnknownData: true, pins: []))
        let pins = [SSHPin(name: "a", key: Data([1])), SSHPin(name: "b", key: Data([2]))]
        try await vault.pin(ssh, to: pins)
        #expect(try await vault.rules(of: ssh) == SSHKeyRules(allowsUnknownData: true, pins: pins))
        let digest = Data(repeating: 7, count: 32)
        _ = try await vault.sign(requestDigest: digest, with: ssh, shown: finger())
        // The first of the two hosts, in the row's JSON.
        try await vault.database.write(.full) {
            try $0.execute(
                sql:
                    "UPDATE vault_items SET body = CAST(replace(CAST(body AS TEXT), '\"a\"', '\"c\"') AS BLOB)"
            )
        }
        #expect(await code { try await vault.rules(of: ssh) } == .itemTampered)
        for change in ["NULL", "x''", "CAST('{}' AS BLOB)"] {
            try await vault.database.write(.full) {
                try $0.execute(sql: "UPDATE vault_items SET body = \(change)")
            }
            #expect(await code { try await vault.rules(of: ssh) } == .itemTampered)
            #expect(
                await code { try await vault.sign(requestDigest: digest, with: ssh, shown: finger()) }
                    == .itemTampered
            )
        }
    }

    @Test func `require a proof`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let ssh = try id(.sshKey, "x")
        try await vault.createKey(ssh, access: .biometryAny)
        let digest = Data(repeating: 7, count: 32)
        let nothing = OwnerProof.nothing(of: "ada")
        #expect(
            await code { try await vault.sign(requestDigest: digest, with: ssh, shown: nothing) }
                == .accessDenied
        )
        let stranger = finger(of: "bob")
        #expect(await code { try await vault.sign(requestDigest: digest, with: ssh, shown: stranger) } != nil)
    }
}
