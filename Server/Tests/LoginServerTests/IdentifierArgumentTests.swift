// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import whorl_login_server

struct `a device or a key on the command line` {
    static let dashed = [
        "-h" + String(repeating: "A", count: 20), "--" + String(repeating: "9", count: 20),
        "-MUADE8p8u3dnbpoF2EihiT2zHmb5LyRsiKuH8wGcTA",
    ]

    @Test(arguments: dashed) func `is taken as it is where it begins with a dash`(identifier: String) throws {
        let words = ["device", "approve", "--database", "x.sqlite", "ada", identifier, identifier]
        let parsed = try WhorlLoginServer.parseAsRoot(IdentifierArgument.marking(words))
        let command = try #require(parsed as? Device.Approve)
        #expect(command.device.text == identifier && command.key.text == identifier)
        let revoking = try WhorlLoginServer.parseAsRoot(
            IdentifierArgument.marking(["device", "revoke", "ada", identifier, "--database", "x.sqlite"])
        )
        #expect((revoking as? Device.Revoke)?.device?.text == identifier)
    }

    @Test(arguments: ["--database-connections", "-h", "--help", "--attestation-certificates", "-"])
    func `is no option`(option: String) {
        #expect(IdentifierArgument.marking([option]) == [option])
    }
}
