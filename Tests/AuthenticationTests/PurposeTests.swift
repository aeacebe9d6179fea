// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Testing
import WhorlFingerprint

@testable import WhorlEngine
@testable import WhorlVault
import WhorlService

/// An operation that is tried, without a prompt, with what was shown in a session.
private enum Operation: CaseIterable {
    case secret, signature, signInThere, signInElsewhere, secretAsSignIn, namedItem, firstPasscode,
        loginPassword, passwordAtLocker, deletion,
        otherProgram

    /// Returns whether a touch for a purpose lets the operation succeed.
    func succeeds(after purpose: TouchPurpose) -> Bool {
        switch (self, purpose) {
        case (.secret, .storedByProgram), (.signature, .storedByProgram), (.secretAsSignIn, .storedByProgram),
            (.signInThere, .signIn("bank.example")), (.firstPasscode, .setPasscode),
            (.loginPassword, .logIn("sudo")), (.passwordAtLocker, .unlockScreen("swaylock")):
            true
        default: false
        }
    }
}

/// A touch counts for the purpose that its prompt named: each purpose is tried with each operation.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `One touch, one purpose` {
    static let purposes: [TouchPurpose] = [
        .yes, .storedByProgram, .item("bank"), .signIn("bank.example"), .setPasscode, .changePasscode,
        .removePasscode, .reseal, .changeFingers, .deleteItem("bank"), .listItems, .deleteEverything,
        .sshLogin("ada@SHA256:x"),
        .sshLoginBound("ada@SHA256:x"), .sshLoginUnproven("ada"), .gitSignature, .sshSignature("file"),
        .sshAuthentication("root (sudo)"), .sshUnknownData("x"), .sshPins("x: *"), .keyring, .keyringOff,
        .keyringPassword, .openKeyring, .optOut("org.example.test"), .logIn("sudo"),
        .unlockScreen("swaylock"),
    ]

    private struct Scene {
        let bench: VaultFixture
        let engine: AuthenticationEngine
        let secret: SealedItem
        let key: SealedItem
        let named: ItemID
        let session = OwnerSession()
        var clock: TestClock { bench.fixture.clock }

        init(touches: Int = 1, limits: ProofLimits = .standard) async throws {
            named = ItemID(.secret, try ItemName("bank"), of: "owner")
            bench = try await VaultFixture.enrolled(Array(repeating: .match(0), count: touches))
            engine = bench.engine()
            secret = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
            key = try await engine.handlers.makeKey(access: .biometryAny, applicationPassword: nil)
            try await bench.vault.add(box("y"), as: named, access: .biometryAny, applicationPassword: nil)
        }

        func touch(for purpose: TouchPurpose) async throws {
            _ = try await engine.evaluate(
                evaluation(for: purpose, in: session),
                presenter: ScriptedPresenter()
            )
        }

        /// Tries an operation that may not prompt; `true` where it succeeds.
        func tries(
            _ operation: Operation,
            _ change: (inout EvaluationRequest) -> Void = { _ in }
        ) async throws -> Bool {
            var request = release(in: session, interactionAllowed: false)
            change(&request.evaluation)
            let digest = Data(SHA256.hash(data: Data("m".utf8)))
            switch operation {
            case .secret: return await opens(.sealed(secret), .secret, request)
            case .otherProgram:
                request.evaluation.application = ApplicationID(rawValue: "another program")
                return await opens(.sealed(secret), .secret, request)
            case .signature: return await opens(.sealed(key), .signature(over: digest), request)
            case .signInThere:
                request.evaluation.purpose = .signIn("bank.example")
                return await opens(.sealed(key), .signature(over: digest), request)
            case .signInElsewhere:
                request.evaluation.purpose = .signIn("other.example")
                return await opens(.sealed(key), .signature(over: digest), request)
            case .secretAsSignIn:
                request.evaluation.purpose = .signIn("bank.example")
                return await opens(.sealed(secret), .secret, request)
            case .namedItem:
                request.evaluation.purpose = .item("bank")
                return await opens(.named(named), .secret, request)
            case .firstPasscode:
                let consent = ConsentRequest(application: Fixture.application)
                return await engine.proofForFirstPasscode(consent, in: session, bench.vault).showsFinger
            case .loginPassword: return await counts(.logIn("sudo"), request.evaluation)
            case .passwordAtLocker: return await counts(.unlockScreen("swaylock"), request.evaluation)
            case .deletion: return await counts(.deleteItem("bank"), request.evaluation)
            }
        }

        private func counts(_ purpose: TouchPurpose, _ request: EvaluationRequest) async -> Bool {
            var request = request
            request.purpose = purpose
            return await engine.known(for: request, bench.vault, demanding: []).showsFinger
        }

        private func opens(_ item: ProtectedItem, _ use: ItemUse, _ request: ReleaseRequest) async -> Bool {
            await refusal {
                try await engine.use(item, for: use, request, presenter: ScriptedPresenter())
            } == nil
        }
    }

    // Docs/Security.md: C2a
    @Test(arguments: purposes)
    func `a touch opens what its prompt named, and nothing else`(_ purpose: TouchPurpose) async throws {
        let scene = try await Scene(touches: Operation.allCases.count)
        for operation in Operation.allCases {
            scene.session.forget()
            try await scene.touch(for: purpose)
            let isOpen = try await scene.tries(operation)
            #expect(isOpen == operation.succeeds(after: purpose), "\(operation) after \(purpose)")
        }
    }

    // Docs/Security.md: C2a
    @Test func `after a yes, nothing opens, however often and late it is tried`() async throws {
        let scene = try await Scene()
        try await scene.touch(for: .yes)
        for pause in [0, 1, 60, 3600] {
            scene.clock.advance(.seconds(pause))
            for operation in Operation.allCases {
                #expect(try await !scene.tries(operation), "\(operation) after \(pause) s")
            }
        }
    }

    // Docs/Security.md: C2a
    @Test func `what a program stored opens until it is not used for five minutes`() async throws {
        let scene = try await Scene()
        try await scene.touch(for: .storedByProgram)
        for _ in 0..<3 {
            scene.clock.advance(.seconds(299))
            #expect(try await scene.tries(.secret))
        }
        scene.clock.advance(.seconds(300))
        #expect(try await !scene.tries(.secret))
        #expect(try await !scene.tries(.secret))
    }

    // Docs/Security.md: C2a
    @Test func `what a program stored opens for an hour, however often it is used`() async throws {
        let scene = try await Scene()
        try await scene.touch(for: .storedByProgram)
        for minute in 1...59 {
            scene.clock.advance(.seconds(60))
            #expect(try await scene.tries(.secret), "minute \(minute)")
        }
        scene.clock.advance(.seconds(60))
        #expect(try await !scene.tries(.secret))
    }

    // Docs/Security.md: C2b
    @Test(arguments: [
        (TouchPurpose.setPasscode, Operation.firstPasscode), (.logIn("sudo"), .loginPassword),
        (.unlockScreen("swaylock"), .passwordAtLocker), (.signIn("bank.example"), .signInThere),
    ])
    private func `a single proof counts once, within a minute`(
        _ purpose: TouchPurpose,
        _ operation: Operation
    ) async throws {
        let scene = try await Scene(touches: 2)
        try await scene.touch(for: purpose)
        scene.clock.advance(.seconds(59))
        #expect(try await scene.tries(operation))
        #expect(try await !scene.tries(operation))
        try await scene.touch(for: purpose)
        scene.clock.advance(.seconds(60))
        #expect(try await !scene.tries(operation))
    }

    // Docs/Security.md: C2a
    @Test(arguments: [
        (TouchPurpose.storedByProgram, Operation.secret), (.signIn("bank.example"), .signInThere),
        (.setPasscode, .firstPasscode),
    ])
    private func `a sleep of the machine ends every proof`(
        _ purpose: TouchPurpose,
        _ operation: Operation
    ) async throws {
        let scene = try await Scene()
        try await scene.touch(for: purpose)
        scene.clock.sleep(.seconds(1))
        #expect(try await !scene.tries(operation))
    }

    @Test func `a touch counts only where one could be asked for now`() async throws {
        let scene = try await Scene()
        try await scene.touch(for: .storedByProgram)
        let elsewhere = ServiceError(.notInteractive, cause: "the session is at another machine")
        #expect(try await !scene.tries(.secret) { $0.fingerObstacle = elsewhere })
        #expect(try await !scene.tries(.secret) { $0.obstacle = elsewhere })
        #expect(try await scene.tries(.secret))
    }

    @Test func `a prompt has the line of its purpose, and states a time limit where it leaves a proof`()
        async throws
    {
        let scene = try await Scene(touches: 3)
        var lines: [String] = []
        for request in [
            evaluation(for: .yes, in: scene.session), evaluation(for: .storedByProgram, in: scene.session),
            Fixture.request(purpose: .storedByProgram),
        ] {
            let presenter = ScriptedPresenter()
            _ = try await scene.engine.evaluate(request, presenter: presenter)
            lines += presenter.prompts.map(\.purposeLine)
        }
        #expect(
            lines == [
                "Confirms your identity. Unlocks nothing.",
                "Unlocks items stored by this program: 5 minutes after each use, 60 minutes at most.",
                "Unlocks an item stored by this program, once.",
            ]
        )
    }

    @Test func `each release of an item that requires its owner is in the owner's log`() async throws {
        let scene = try await Scene()
        let open = try await scene.engine.handlers.seal(box("z"), access: .none, applicationPassword: nil)
        try await scene.touch(for: .storedByProgram)
        _ = try await scene.engine.handlers.secret(
            in: .sealed(open),
            release(),
            presenter: ScriptedPresenter()
        )
        #expect(try await scene.tries(.secret))
        #expect(try await scene.bench.fixture.log() == ["evaluation matched", "release releasedAgain"])
    }

    @Test func `the engine names an item in the prompt, whatever the program says it is for`() async throws {
        let scene = try await Scene(touches: 2)
        for (item, line) in [
            (ProtectedItem.named(scene.named), "Unlocks “bank”, once."),
            (.sealed(scene.secret), "Unlocks an item stored by this program, once."),
        ] {
            var request = release()
            request.evaluation.purpose = .yes
            let presenter = ScriptedPresenter()
            _ = try await scene.engine.handlers.secret(in: item, request, presenter: presenter)
            #expect(presenter.prompts.map(\.purposeLine) == [line])
        }
        #expect(
            try await scene.bench.fixture.log().filter { $0.hasPrefix("release") } == [
                "release released", "release released",
            ]
        )
    }
}
