// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlService
import WhorlSSH

@testable import WhorlRemote

@Suite("SSH keys", .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct SSHKeyTests {
    /// A host with an Ed25519 key.
    private struct Host {
        private let secret = Curve25519.Signing.PrivateKey()

        var key: SSHPublicKey? {
            SSHPublicKey(blob: string("ssh-ed25519") + string(secret.publicKey.rawRepresentation))
        }
        var fingerprint: String { key?.fingerprint ?? "" }

        func bind(_ session: Data, forwarding: Bool = false) throws -> Data {
            let signature = string("ssh-ed25519") + string(try secret.signature(for: session))
            return string(key?.blob ?? []) + string(session) + string(signature) + [forwarding ? 1 : 0]
        }
    }

    /// A service with an SSH key.
    private struct Scene {
        let machine: HostMachine
        let id: ItemID
        let key: SSHPublicKey

        init(reader: String = "mock:then=match", access: AccessControl = .biometryAny, reuse: Int = 0)
            async throws
        {
            machine = try await HostMachine(reader: reader)
            id = ItemID(.sshKey, try ItemName("laptop"), of: "ada")
            let made = try await machine.services.ask(AddSSHKey(id, access: access, reuseSeconds: reuse))
            key = try #require(SSHPublicKey(p256: made.x963))
        }

        func login(_ session: Data, at host: Host? = nil, as user: String = "ada") -> Data {
            let method = host == nil ? "publickey" : "publickey-hostbound-v00@openssh.com"
            let start = string(session) + [50] + string(user) + string("ssh-connection") + string(method)
            let rest = [1] + string("ecdsa-sha2-nistp256") + string(key.blob)
            return start + rest + (host.map { string($0.key?.blob ?? []) } ?? Data())
        }

        func sign(
            _ data: Data,
            _ binds: [Data] = [],
            _ presenter: ScriptedPresenter = ScriptedPresenter()
        ) async throws -> (signature: Data, purposes: [TouchPurpose], lines: [String]) {
            let consent = ConsentRequest(
                application: machine.services.application,
                timeout: .milliseconds(500)
            )
            let asked = SignForSSH(id, data: data, binds: binds, consent)
            let signature = try await machine.services.ask(asked, presenter: presenter).value
            return (signature, presenter.prompts.map(\.purpose), presenter.prompts.map(\.purposeLine))
        }

        /// Signs, and returns the purpose of the only prompt if the signature is valid.
        func purpose(_ data: Data, _ binds: [Data] = []) async throws -> TouchPurpose? {
            let (signature, purposes, _) = try await sign(data, binds)
            #expect(key.check(signature, over: [UInt8](data)) == .valid)
            return purposes.count == 1 ? purposes[0] : nil
        }

        /// Tries to sign, and returns the error's code; a prompt is a failure.
        func refusal(_ data: Data, _ binds: [Data] = []) async -> ServiceError.Code? {
            let presenter = ScriptedPresenter()
            do {
                _ = try await sign(data, binds, presenter)
                return nil
            } catch {
                #expect(presenter.prompts.isEmpty)
                return (error as? ServiceError)?.code
            }
        }
    }

    private let one = Data(repeating: 1, count: 32)
    private let two = Data(repeating: 2, count: 32)

    private func signature(of namespace: String) -> Data {
        Data("SSHSIG".utf8) + string(namespace) + string("") + string("sha512") + string(Data(count: 64))
    }

    @Test func `sign a login, and the prompt says the user and the proven host`() async throws {
        let (scene, host) = (try await Scene(), Host())
        let bind = try host.bind(one)
        let proven = try await scene.purpose(scene.login(one, at: host), [bind])
        #expect(proven == .sshLogin("ada@\(host.fingerprint)"))
        let bound = try await scene.purpose(scene.login(one), [bind])
        #expect(bound == .sshLoginBound("ada@\(host.fingerprint)"))
        #expect(try await scene.purpose(scene.login(one, at: host)) == .sshLoginUnproven("ada"))
        let shown = try await scene.sign(scene.login(one, at: host), [bind])
        #expect(shown.lines == ["Signs in with SSH: ada@\(host.fingerprint)."])
        let log = try await scene.machine.services.ask(ReadLog(limit: 50)).filter { $0.outcome == "released" }
        #expect(!log.isEmpty && log.allSatisfy { $0.detail?.contains("laptop") == true })
    }

    @Test func `say through which host a request came`() async throws {
        let (scene, hop, host) = (try await Scene(), Host(), Host())
        let way = [try hop.bind(one, forwarding: true)]
        let there = way + [try host.bind(two)]
        let login = try await scene.purpose(scene.login(two, at: host), there)
        #expect(login == .sshLogin("ada@\(host.fingerprint) via \(hop.fingerprint)"))
        let broken = [way[0].dropLast()] + [try host.bind(two)]
        let hidden = try await scene.purpose(scene.login(two, at: host), broken.map { Data($0) })
        #expect(hidden == .sshLogin("ada@\(host.fingerprint) via ?"))
        // Of several hops, the nearest and the last are named.
        let (middle, last) = (Host(), Host())
        let three =
            try way + [
                middle.bind(Data(repeating: 3, count: 32), forwarding: true),
                last.bind(Data(repeating: 4, count: 32), forwarding: true),
            ]
        let far = try await scene.purpose(signature(of: "file"), three)
        #expect(far == .sshSignature("file via \(hop.fingerprint) … via \(last.fingerprint)"))
        let unproven = try await scene.purpose(scene.login(two), there)
        #expect(unproven == .sshLoginUnproven("ada via \(hop.fingerprint)"))
        let commit = try await scene.purpose(signature(of: "git"), way)
        #expect(commit == .sshSignature("git via \(hop.fingerprint)"))
        #expect(
            try await scene.purpose(sudo(scene.key), way)
                == .sshAuthentication("root (sudo) via \(hop.fingerprint)")
        )
    }

    @Test func `sign commits and files for what they are`() async throws {
        let scene = try await Scene()
        #expect(try await scene.purpose(signature(of: "git")) == .gitSignature)
        #expect(try await scene.purpose(signature(of: "file")) == .sshSignature("file"))
        #expect(try await scene.purpose(sudo(scene.key)) == .sshAuthentication("root (sudo)"))
    }

    @Test func `sign nothing that is unknown, or contradicts its session, and do not prompt for it`()
        async throws
    {
        let (scene, host, other) = (try await Scene(), Host(), Host())
        let bind = try host.bind(one)
        for data in [
            Data(), Data("random".utf8), Data(count: 32), scene.login(one) + [0], Data(count: 300_000),
        ] {
            #expect(await scene.refusal(data, [bind]) == .sshRequestRefused)
        }
        #expect(await scene.refusal(scene.login(two, at: host), [bind]) == .sshRequestRefused)
        #expect(await scene.refusal(scene.login(one, at: other), [bind]) == .sshRequestRefused)
        let forwarded = [try host.bind(one, forwarding: true)]
        #expect(await scene.refusal(scene.login(one, at: host), forwarded) == .sshRequestRefused)
        let many = Array(repeating: bind, count: SignForSSH.mostBinds + 1)
        #expect(await scene.refusal(scene.login(one, at: host), many) == .sshRequestRefused)
    }

    @Test func `show a user with another host's name as a user`() async throws {
        let (scene, host) = (try await Scene(), Host())
        let bind = try host.bind(one)
        let shown = try await scene.purpose(scene.login(one, at: host, as: "root@github.com"), [bind])
        #expect(shown == .sshLogin("“root@github.com”@\(host.fingerprint)"))
        for user in ["root@github.com via x", "root\u{202E}", "xx\u{200B}yy", "“root”"] {
            #expect(await scene.refusal(scene.login(one, at: host, as: user), [bind]) == .sshRequestRefused)
        }
    }

    @Test func `sign no digest, under any kind and in no other operation`() async throws {
        let scene = try await Scene()
        let services = scene.machine.services
        let digest = Data(SHA256.hash(data: scene.login(one)))
        for kind in ItemKind.allCases {
            let id = ItemID(kind, scene.id.name, of: "ada")
            for use in [
                ItemUse.signature(over: digest), .secret,
                .sharedSecret(with: Data(scene.key.blob.suffix(65))),
            ] {
                let asked = UseItem(.named(id), for: use, ReleaseRequest(EvaluationRequest("sign")))
                let presenter = ScriptedPresenter()
                await #expect(throws: ServiceError.self) {
                    _ = try await services.ask(asked, presenter: presenter)
                }
                #expect(presenter.prompts.isEmpty)
            }
        }
        // A key of another kind signs no request either.
        let key = ItemID(.key, try ItemName("plain"), of: "ada")
        _ = try await services.ask(
            AddItem(key, MakeItem(.key, access: .biometryAny, applicationPassword: nil))
        )
        let consent = ConsentRequest(application: services.application)
        await #expect {
            let asked = SignForSSH(key, data: scene.login(one), binds: [], consent)
            _ = try await services.ask(asked, presenter: ScriptedPresenter())
        } throws: { ($0 as? ServiceError)?.code == .noSuchItem }
    }

    // Docs/Security.md: S62
    @Test func `sign in only at their hosts if they have any, after a touch that names them`() async throws {
        let (scene, host, other) = (try await Scene(), Host(), Host())
        let pin = SSHPin(name: "git.example", key: Data(try #require(host.key).blob))
        func set(_ pins: [SSHPin]) async throws -> [TouchPurpose] {
            let presenter = ScriptedPresenter()
            let consent = ConsentRequest(application: scene.machine.services.application)
            try await scene.machine.services.ask(PinSSHKey(scene.id, to: pins, consent), presenter: presenter)
            return presenter.prompts.map(\.purpose)
        }
        #expect(try await set([pin]) == [.sshPins("laptop: git.example (\(host.fingerprint))")])
        #expect(try await scene.machine.services.ask(ReadSSHKeyRules(of: scene.id)).value.pins == [pin])
        let there = try await scene.purpose(scene.login(one, at: host), [host.bind(one)])
        #expect(there == .sshLogin("ada@git.example (\(host.fingerprint))"))
        // Another host, a host that is not proven, or not bound; and what has no host.
        #expect(try await scene.refusal(scene.login(one, at: other), [other.bind(one)]) == .sshRequestRefused)
        #expect(await scene.refusal(scene.login(one, at: host)) == .sshRequestRefused)
        #expect(try await scene.refusal(scene.login(one), [host.bind(one)]) == .sshRequestRefused)
        #expect(await scene.refusal(sudo(scene.key)) == .sshRequestRefused)
        #expect(try await scene.purpose(signature(of: "git")) == .gitSignature)
        for wrong in [
            SSHPin(name: "", key: pin.key), SSHPin(name: "a b", key: pin.key),
            SSHPin(name: "x", key: Data([1])),
        ] {
            await #expect(throws: ServiceError.self) { _ = try await set([wrong]) }
        }
        await #expect(throws: ServiceError.self) { _ = try await set([pin, pin]) }
        #expect(try await set([]) == [.sshPins("laptop: *")])
        #expect(try await scene.purpose(scene.login(one, at: other), [other.bind(one)]) != nil)
    }

    // Docs/Security.md: S62
    @Test func `let a touch count for the same login again, for the time they were made with`() async throws {
        let (scene, host, other) = (try await Scene(reuse: 30), Host(), Host())
        func prompts(_ data: Data, _ binds: [Data]) async throws -> [String] {
            let (signature, _, lines) = try await scene.sign(data, binds)
            #expect(scene.key.check(signature, over: [UInt8](data)) == .valid)
            return lines
        }
        let (login, binds) = (scene.login(one, at: host), [try host.bind(one)])
        let line = "Signs in with SSH: ada@\(host.fingerprint). Allows the same again for 30 seconds."
        #expect(try await prompts(login, binds) == [line])
        // Each connection has another session ID.
        #expect(try await prompts(scene.login(two, at: host), [host.bind(two)]) == [])
        // Another user, another host, another purpose.
        #expect(try await prompts(scene.login(one, at: host, as: "root"), binds).count == 1)
        #expect(try await prompts(scene.login(one, at: other), [other.bind(one)]).count == 1)
        #expect(try await prompts(signature(of: "git"), []).count == 1)
        #expect(try await prompts(signature(of: "git"), []) == [])
        #expect(try await prompts(signature(of: "file"), []).count == 1)
        // Names with the same characters in other bytes.
        #expect(try await prompts(signature(of: "bac\u{212A}up"), []).count == 1)
        #expect(try await prompts(signature(of: "bacKup"), []).count == 1)
        #expect(try await prompts(signature(of: "jos\u{E9}"), []).count == 1)
        #expect(try await prompts(signature(of: "jose\u{301}"), []).count == 1)
        // A prompt for what is never repeated ends the time as well.
        #expect(try await prompts(signature(of: "file"), []).count == 1)
        #expect(try await prompts(scene.login(one), []).count == 1)
        #expect(try await prompts(signature(of: "file"), []).count == 1)
        // Only the last prompt's purpose counts.
        #expect(try await prompts(login, binds) == [line])
        #expect(try await prompts(login, binds) == [])
        let log = try await scene.machine.services.ask(ReadLog(limit: 50)).map(\.outcome)
        #expect(log.filter { $0 == "releasedAgain" }.count == 3)
        let consent = ConsentRequest(application: scene.machine.services.application)
        let presenter = ScriptedPresenter()
        try await scene.machine.services.ask(PinSSHKey(scene.id, to: [], consent), presenter: presenter)
        #expect(try await prompts(login, binds) == [line])
        // The screen is locked, or the machine sleeps.
        scene.machine.host.sleep()
        #expect(try await prompts(login, binds) == [line])
    }

    // Docs/Security.md: S62
    @Test func `leave no touch to a later key with the same name`() async throws {
        let scene = try await Scene(reuse: 30)
        _ = try await scene.sign(signature(of: "git"))
        #expect(try await scene.sign(signature(of: "git")).purposes.isEmpty)
        let services = scene.machine.services
        let consent = ConsentRequest(application: services.application)
        try await services.ask(DeleteItem(scene.id, consent), presenter: ScriptedPresenter())
        _ = try await services.ask(AddSSHKey(scene.id, access: .biometryAny, reuseSeconds: 30))
        let presenter = ScriptedPresenter()
        let asked = SignForSSH(scene.id, data: signature(of: "git"), binds: [], consent)
        _ = try await services.ask(asked, presenter: presenter).value
        #expect(presenter.prompts.count == 1)
    }

    // Docs/Security.md: S62
    @Test func `prompt each time for what is forwarded, not proven, or of unknown meaning`() async throws {
        let (scene, hop, host) = (try await Scene(reuse: 30), Host(), Host())
        let way = [try hop.bind(one, forwarding: true), try host.bind(two)]
        for (data, binds) in [
            (scene.login(two, at: host), way), (signature(of: "git"), [way[0]]), (scene.login(one), []),
            (scene.login(one), [try host.bind(one)]), (sudo(scene.key), []),
        ] {
            for _ in 0..<2 {
                let (_, purposes, lines) = try await scene.sign(data, binds)
                #expect(purposes.count == 1 && lines.allSatisfy { !$0.contains("again") }, "\(lines)")
            }
        }
    }

    @Test(arguments: [-1, 61, Int.max, Int.min])
    func `are not made with a longer time`(seconds: Int) async throws {
        let machine = try await HostMachine()
        let id = ItemID(.sshKey, try ItemName("laptop"), of: "ada")
        await #expect {
            _ = try await machine.services.ask(AddSSHKey(id, access: .biometryAny, reuseSeconds: seconds))
        } throws: { ($0 as? ServiceError)?.code == .accessRefused }
    }

    @Test func `sign unknown data only if they were created for it`() async throws {
        let scene = try await Scene()
        #expect(await scene.refusal(Data("challenge".utf8)) == .sshRequestRefused)
        let id = ItemID(.sshKey, try ItemName("any"), of: "ada")
        let services = scene.machine.services
        let made = try await services.ask(AddSSHKey(id, access: .biometryAny, allowsUnknownData: true))
        let presenter = ScriptedPresenter()
        let asked = SignForSSH(
            id,
            data: Data("challenge".utf8),
            binds: [],
            ConsentRequest(application: services.application)
        )
        let signature = try await services.ask(asked, presenter: presenter).value
        let key = try #require(SSHPublicKey(p256: made.x963))
        #expect(key.check(signature, over: Array("challenge".utf8)) == .valid)
        #expect(presenter.prompts.map(\.purposeLine) == ["Signs unknown data with “any”."])
    }

    // Docs/Security.md: S62
    @Test func `sign nothing without a program that shows the prompt`() async throws {
        let scene = try await Scene()
        let presenter = ScriptedPresenter(isInteractive: false)
        await #expect {
            _ = try await scene.sign(scene.login(one), [], presenter)
        } throws: { ($0 as? ServiceError)?.code == .notInteractive }
        #expect(presenter.prompts.isEmpty)
    }

    @Test func `require their owner for each signature`() async throws {
        let scene = try await Scene(reader: "mock:match,no-match*5")
        #expect(try await scene.purpose(scene.login(one)) == .sshLoginUnproven("ada"))
        await #expect(throws: ServiceError.self) { _ = try await scene.sign(scene.login(one)) }
        for access in ["none", "biometry-any+application-password"] {
            let id = ItemID(.sshKey, try ItemName("open"), of: "ada")
            await #expect {
                _ = try await scene.machine.services.ask(AddSSHKey(id, access: try AccessControl(access)))
            } throws: { ($0 as? ServiceError)?.code == .accessRefused }
        }
        let other = ItemID(.key, try ItemName("open"), of: "ada")
        await #expect(throws: ServiceError.self) {
            _ = try await scene.machine.services.ask(AddSSHKey(other, access: .biometryAny))
        }
    }

    @Test(arguments: [TouchPurpose.yes, .storedByProgram, .signIn("bank.example")])
    func `sign nothing for a touch that an evaluation requested`(_ purpose: TouchPurpose) async throws {
        let scene = try await Scene(reader: "mock:match,hang")
        var request = EvaluationRequest("unlock", session: OwnerSession())
        request.policy = .biometrics
        request.purpose = purpose
        _ = try await scene.machine.services.evaluate(request, presenter: ScriptedPresenter())
        let presenter = ScriptedPresenter()
        await #expect(throws: ServiceError.self) { _ = try await scene.sign(scene.login(one), [], presenter) }
        #expect(presenter.prompts.map(\.purpose) == [.sshLoginUnproven("ada")])
    }

    @Test func `sign nothing when the prompt is canceled, or nothing touches the reader`() async throws {
        let scene = try await Scene(reader: "mock:hang*2")
        for presenter in [ScriptedPresenter(pressing: .cancel), ScriptedPresenter()] {
            await #expect(throws: ServiceError.self) {
                _ = try await scene.sign(scene.login(one), [], presenter)
            }
        }
    }

    @Test func `are listed, read and removed like other items`() async throws {
        let scene = try await Scene()
        let services = scene.machine.services
        #expect(try await services.ask(ListItems()).map(\.id) == [scene.id])
        #expect(try await services.ask(ReadPublicKey(of: scene.id)).x963 == Data(scene.key.blob.suffix(65)))
        await #expect(throws: ServiceError.self) {
            _ = try await services.ask(AddSSHKey(scene.id, access: .biometryAny))
        }
        let consent = ConsentRequest(application: services.application)
        try await services.ask(DeleteItem(scene.id, consent), presenter: ScriptedPresenter())
        #expect(try await services.ask(ListItems()).isEmpty)
        #expect(await scene.refusal(scene.login(one)) == .noSuchItem)
    }

    @Test func `are not for confined programs`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        let id = ItemID(.sshKey, try ItemName("laptop"), of: "ada")
        _ = try await services.ask(AddSSHKey(id, access: .biometryAny))
        machine.rules.set(.id("snap.vault.app"))
        let presenter = ScriptedPresenter()
        await #expect(throws: ServiceError.self) {
            _ = try await services.ask(AddSSHKey(id, access: .biometryAny))
        }
        await #expect(throws: ServiceError.self) {
            let asked = SignForSSH(
                id,
                data: signature(of: "git"),
                binds: [],
                ConsentRequest(application: services.application)
            )
            _ = try await services.ask(asked, presenter: presenter)
        }
        #expect(presenter.prompts.isEmpty)
    }

    /// What pam_ssh_agent_auth asks for.
    private func sudo(_ key: SSHPublicKey) -> Data {
        let session =
            Data([0, 0, 0, 101]) + string(Data(count: 16)) + string("root") + string("ada") + string("sudo")
            + string("/") + string(Data()) + string("server") + Data(count: 8)
        return string(session) + [54] + string("ada") + string("pam_ssh_agent_auth") + string("publickey") + [
            1
        ]
            + string("ecdsa-sha2-nistp256") + string(key.blob)
    }
}

/// A string in SSH's encoding (RFC 4251, section 5).
private func string(_ bytes: some Collection<UInt8>) -> Data {
    withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Data($0) } + Data(bytes)
}
private func string(_ text: String) -> Data { string(Data(text.utf8)) }
