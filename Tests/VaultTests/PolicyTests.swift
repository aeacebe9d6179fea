// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// What the chip itself says of our objects, asked with other people's tools.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct PolicyTests {
    @Test(arguments: [
        "biometry-any", "biometry-current-set", "passcode", "user-presence", "none",
        "biometry-current-set-or-passcode", "biometry-any-and-passcode", "biometry-any+application-password",
        "user-presence+application-password",
    ])
    func `tpm2-tools compute the same policy, and see a key that only its policy opens`(text: String)
        async throws
    {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let authority = try await vault.provisionedAuthority()
        _ = try await vault.changeFingers(from: 0)
        try await vault.setPasscode(secret("1234"), of: "ada")
        let passcode = try #require(try await vault.verify(secret("1234"), of: "ada").passcode)
        let access = try AccessControl(text)
        let key = try id(.key, "k")
        try await vault.createKey(
            key,
            access: access,
            applicationPassword: access.needsApplicationPassword ? secret("pw") : nil
        )
        let row = try await vault.row(key)
        await vault.letGo()
        let tools = Attacker(bench.tpm, root: authority.root)
        #expect(try tools.load(authority.object, as: "authority").status == 0)
        #expect(try tools.load(passcode.object, as: "passcode").status == 0)
        let secretOf: (String, SecretBox) throws -> Void = { name, authorization in
            let hex = data(authorization).map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let done = try tools.run(
                "policysecret",
                "-S",
                "trial",
                "-c",
                "\(name).ctx",
                "-L",
                "digest",
                "hex:\(hex)"
            )
            #expect(done.status == 0, "\(done.errors)")
        }
        var digests: [String] = []
        for way in access.waysInChip {
            try tools.session("trial", isTrial: true)
            if ItemPolicy.needsAuthority(way) { try secretOf("authority", authority.authorization) }
            if way.contains(.biometryCurrentSet) {
                let bound = try #require(row.binding.generation)
                let index = "0x" + String(bound.counter.index, radix: 16)
                try bench.tpm.write(withUnsafeBytes(of: bound.value.bigEndian) { Array($0) }, to: "value")
                let done = try tools.run(
                    "policynv",
                    "-S",
                    "trial",
                    "-C",
                    index,
                    "-i",
                    "value",
                    "-L",
                    "digest",
                    index,
                    "eq"
                )
                #expect(done.status == 0, "\(done.errors)")
            }
            if way.contains(.devicePasscode) { try secretOf("passcode", passcode.authorization) }
            let name = "way\(digests.count)"
            try bench.tpm.write(bench.tpm.read("digest"), to: name)
            digests.append(name)
            try tools.flush("trial")
        }
        try tools.session("trial", isTrial: true)
        if digests.count > 1 {
            let list = "sha256:" + digests.joined(separator: ",")
            #expect(try tools.run("policyor", "-S", "trial", "-L", "digest", "-l", list).status == 0)
        } else if access.needsApplicationPassword {
            try secretOf("authority", authority.authorization)
        }
        if access.needsApplicationPassword {
            #expect(try tools.run("policyauthvalue", "-S", "trial", "-L", "digest").status == 0)
        }
        try tools.flush("trial")
        #expect(try bench.tpm.read("digest") == row.object.policy?.bytes)

        #expect(try tools.load(row.object, as: "key").status == 0)
        let shown = try tools.run("readpublic", "-c", "key.ctx")
        // Wrong application passwords count.
        let counting = access.needsApplicationPassword ? "" : "noda|"
        let attributes = "fixedtpm|fixedparent|sensitivedataorigin|adminwithpolicy|\(counting)sign\n"
        #expect(shown.output.contains("value: \(attributes)"), "\(shown.output)")
        let digest =
            row.object.policy?.bytes.map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() ?? ""
        #expect(shown.output.contains("authorization policy: \(digest)"))
    }

    @Test func `the passcode's object is counted by the chip, the authority's is not`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        let authority = try await vault.provisionedAuthority()
        let passcode = try #require(try await vault.passcode(of: "ada"))
        await vault.letGo()
        let tools = Attacker(bench.tpm, root: authority.root)
        for (object, isCounted) in [(authority.object, false), (passcode.object, true)] {
            #expect(try tools.load(object, as: "object").status == 0)
            let shown = try tools.run("readpublic", "-c", "object.ctx").output
            #expect(shown.contains("noda") == !isCounted)
            #expect(shown.contains("fixedtpm|fixedparent|sensitivedataorigin|userwithauth"))
        }
    }
}
