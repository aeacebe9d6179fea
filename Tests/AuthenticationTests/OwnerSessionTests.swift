// SPDX-License-Identifier: Apache-2.0

import Crypto
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Testing

@testable import WhorlEngine
@testable import WhorlVault
import WhorlService

/// What was shown to a session opens items without another prompt, and nothing else does.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A session of the owner` {
    private func scope(of profile: String = "owner") -> SessionProofs.Scope {
        .init(profile: profile, application: Fixture.application, purpose: .storedByProgram, stay: "")
    }

    private let digest = Data(SHA256.hash(data: Data("message".utf8)))

    @Test func `a touch for an evaluation opens a key of the present set, without interaction too`()
        async throws
    {
        let bench = try await VaultFixture.enrolled([.match(0)])
        let engine = bench.engine()
        let key = try await engine.handlers.makeKey(access: .biometryCurrentSet, applicationPassword: nil)
        let session = OwnerSession()
        let presenter = ScriptedPresenter()
        _ = try await engine.evaluate(evaluation(in: session), presenter: presenter)
        let released = try await engine.handlers.signature(
            over: digest,
            with: .sealed(key),
            release(in: session, interactionAllowed: false),
            presenter: presenter
        )
        #expect(released.evaluations.isEmpty && presenter.prompts.count == 1)
        let own = try P256.Signing.PublicKey(x963Representation: #require(key.publicKey))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: released.product.raw)
        #expect(own.isValidSignature(signature, for: Data("message".utf8)))
    }

    @Test func `a release without a session keeps nothing, one with a session does`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0), .match(0), .match(0)])
        let engine = bench.engine()
        let item = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
        let presenter = ScriptedPresenter()
        for _ in 0..<2 {
            let given = try await engine.handlers.secret(in: .sealed(item), release(), presenter: presenter)
            #expect(given.evaluations.count == 1)
        }
        let session = OwnerSession()
        for count in [1, 0, 0] {
            let given = try await engine.handlers.secret(
                in: .sealed(item),
                release(in: session),
                presenter: presenter
            )
            #expect(given.evaluations.count == count && data(given.product) == data(box("x")))
        }
        #expect(presenter.prompts.count == 3)
    }

    @Test func `only what is missing is asked for, and it is added`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0)])
        let engine = bench.engine()
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let both = try AccessControl("biometry-any-and-passcode")
        let item = try await engine.handlers.seal(box("x"), access: both, applicationPassword: nil)
        let session = OwnerSession()
        _ = try await engine.evaluate(evaluation(in: session), presenter: ScriptedPresenter())
        #expect(
            await refusal {
                try await engine.handlers.secret(
                    in: .sealed(item),
                    release(in: session, interactionAllowed: false),
                    presenter: ScriptedPresenter()
                )
            }?.code == .notInteractive
        )
        let typing = TypingPresenter([.type("1234")])
        let given = try await engine.handlers.secret(
            in: .sealed(item),
            release(in: session),
            presenter: typing
        )
        #expect(given.evaluations.map(\.method) == [.passcode])
        #expect(typing.prompts.map(\.parts) == [.passcode])
        let again = try await engine.handlers.secret(
            in: .sealed(item),
            release(in: session, interactionAllowed: false),
            presenter: typing
        )
        #expect(again.evaluations.isEmpty)
        #expect(bench.fixture.reader.counts.scans == 1)
    }

    @Test func `a passcode for an evaluation opens what takes one, and no finger's item`() async throws {
        let bench = try await VaultFixture.enrolled()
        let engine = bench.engine()
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let presence = try await engine.handlers.seal(
            box("x"),
            access: .userPresence,
            applicationPassword: nil
        )
        let finger = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
        let session = OwnerSession()
        let typing = TypingPresenter([.type("1234")])
        _ = try await engine.evaluate(evaluation(.deviceOwner, in: session), presenter: typing)
        let silent = release(in: session, interactionAllowed: false)
        #expect(
            try await engine.handlers.secret(in: .sealed(presence), silent, presenter: typing).evaluations
                .isEmpty
        )
        #expect(
            await refusal {
                try await engine.handlers.secret(in: .sealed(finger), silent, presenter: typing)
            }?.code == .notInteractive
        )
    }

    @Test func `a reused match is not a touch for the session`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0)])
        let engine = bench.engine()
        let key = try await engine.handlers.makeKey(access: .biometryCurrentSet, applicationPassword: nil)
        _ = try await engine.evaluate(
            Fixture.request(),
            presenter: ScriptedPresenter()
        )
        let session = OwnerSession()
        let reused = try await engine.evaluate(
            evaluation(in: session, reuse: .seconds(60)),
            presenter: ScriptedPresenter()
        )
        #expect(reused.isReused)
        #expect(
            await refusal {
                try await engine.handlers.signature(
                    over: digest,
                    with: .sealed(key),
                    release(in: session, interactionAllowed: false, reuse: .seconds(60)),
                    presenter: ScriptedPresenter()
                )
            }?.code == .notInteractive
        )
    }

    @Test func `what is forgotten is asked for again, also when it was being shown just then`() async throws {
        let session = OwnerSession()
        let bench = try await VaultFixture.enrolled([
            .match(0), .perform { session.forget() }, .match(0), .match(0),
        ])
        let engine = bench.engine()
        let item = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
        _ = try await engine.evaluate(evaluation(in: session), presenter: ScriptedPresenter())
        session.forget()
        // The second touch is on the sensor while the session is told to forget.
        for _ in 0..<2 {
            let given = try await engine.handlers.secret(
                in: .sealed(item),
                release(in: session),
                presenter: ScriptedPresenter()
            )
            #expect(given.evaluations.count == 1)
        }
        let given = try await engine.handlers.secret(
            in: .sealed(item),
            release(in: session),
            presenter: ScriptedPresenter()
        )
        #expect(given.evaluations.isEmpty)
    }

    @Test func `a finger that was removed does not count any more`() async throws {
        let bench = try await VaultFixture([.match(0), .match(0)])
        let first = try await bench.enroll(.rightIndex)
        let engine = bench.engine()
        let any = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
        let set = try await engine.handlers.makeKey(access: .biometryCurrentSet, applicationPassword: nil)
        let session = OwnerSession()
        _ = try await engine.evaluate(evaluation(in: session), presenter: ScriptedPresenter())
        let silent = release(in: session, interactionAllowed: false)
        try await bench.enroll(.leftIndex)
        // The finger is still enrolled, the set is another one: the chip tells them apart.
        #expect(
            try await engine.handlers.secret(in: .sealed(any), silent, presenter: ScriptedPresenter())
                .evaluations
                .isEmpty
        )
        #expect(try await engine.standing(of: [any, set]) == [.valid, .enrollmentChanged])
        #expect(
            await refusal {
                try await engine.handlers.signature(
                    over: digest,
                    with: .sealed(set),
                    silent,
                    presenter: ScriptedPresenter()
                )
            }?.code == .enrollmentChanged
        )
        try await bench.remove(first)
        #expect(
            await refusal {
                try await engine.handlers.secret(in: .sealed(any), silent, presenter: ScriptedPresenter())
            }?.code == .notInteractive
        )
    }

    @Test func `a passcode that was changed or removed is asked for again`() async throws {
        let bench = try await VaultFixture.enrolled()
        let engine = bench.engine()
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let item = try await engine.handlers.seal(box("x"), access: .devicePasscode, applicationPassword: nil)
        let session = OwnerSession()
        for (passcode, next) in [("1234", "5678"), ("5678", "9999")] {
            let typing = TypingPresenter([.type(passcode)])
            for count in [1, 0] {
                let given = try await engine.handlers.secret(
                    in: .sealed(item),
                    release(in: session),
                    presenter: typing
                )
                #expect(given.evaluations.count == count)
            }
            try await bench.vault.changePasscode(
                to: box(next),
                shown: try await bench.vault.verify(box(passcode), of: "owner")
            )
        }
        try await bench.vault.removePasscode(
            shown: try await bench.vault.verify(box("9999"), of: "owner"),
            force: true
        )
        #expect(
            await refusal {
                try await engine.handlers.secret(
                    in: .sealed(item),
                    release(in: session),
                    presenter: TypingPresenter()
                )
            }?.code == .passcodeNotSet
        )
    }

    @Test func `what the chip does not take from a session is asked for`() async throws {
        let bench = try await VaultFixture.enrolled()
        let engine = bench.engine()
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let item = try await engine.handlers.seal(box("x"), access: .devicePasscode, applicationPassword: nil)
        let right = try await bench.vault.verify(box("1234"), of: "owner")
        let object = try #require(right.passcode).object
        let session = OwnerSession()
        let shown = SessionProofs(
            scope(),
            passcode: OwnerProof(
                profile: "owner",
                passcode: .init(object: object, authorization: box("wrong"))
            ),
            at: bench.fixture.clock.time.now()
        )
        session.add(since: session.visit()) { shown.adding(to: $0) }
        let given = try await engine.handlers.secret(
            in: .sealed(item),
            release(in: session),
            presenter: TypingPresenter([.type("1234")])
        )
        #expect(given.evaluations.map(\.method) == [.passcode])
    }

    @Test func `another profile's session opens nothing`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0)])
        let engine = bench.engine()
        let item = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
        let session = OwnerSession()
        let print = try #require(
            try await engine.evaluate(Fixture.request(), presenter: ScriptedPresenter()).print
        )
        let silent = release(in: session, interactionAllowed: false)
        for (profile, opens) in [("bob", false), ("owner", true)] {
            let shown = SessionProofs(
                scope(of: profile),
                touch: .init(print: print, strength: .any),
                at: bench.fixture.clock.time.now()
            )
            session.add(since: session.visit()) { shown.adding(to: $0) }
            let refused = await refusal {
                try await engine.handlers.secret(in: .sealed(item), silent, presenter: ScriptedPresenter())
            }
            #expect((refused == nil) == opens)
        }
    }
}
