// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Crypto
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Testing
import WhorlVault
import WhorlService

/// Items that lie with a keeper, through the engine.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Releasing sealed items` {
    @Test func `a shared secret is the one that the other side comes to`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0)])
        let engine = bench.engine()
        let key = try await engine.handlers.makeKey(access: .biometryAny, applicationPassword: nil)
        let other = P256.KeyAgreement.PrivateKey()
        let given = try await engine.handlers.sharedSecret(
            with: other.publicKey.x963Representation,
            of: key,
            release(),
            presenter: ScriptedPresenter()
        )
        let own = try P256.KeyAgreement.PublicKey(x963Representation: #require(key.publicKey))
        let expected = try other.sharedSecretFromKeyAgreement(with: own)
        #expect(data(given.product) == expected.withUnsafeBytes { Data($0) })
        #expect(given.evaluations.count == 1)
    }

    @Test func `nobody is asked for what cannot be done`() async throws {
        let bench = try await VaultFixture.enrolled()
        let engine = bench.engine()
        let presenter = ScriptedPresenter()
        let key = try await engine.handlers.makeKey(access: .biometryAny, applicationPassword: nil)
        var moved = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        moved[64] ^= 1
        let point = moved
        #expect(
            await refusal {
                try await engine.handlers.sharedSecret(with: point, of: key, release(), presenter: presenter)
            }?.code == .publicKeyRefused
        )
        #expect(
            await refusal {
                try await engine.handlers.signature(
                    over: Data(),
                    with: .sealed(key),
                    release(),
                    presenter: presenter
                )
            } == ServiceError(.digestWrongSize, details: [.bytes: "0"])
        )
        #expect(presenter.prompts.isEmpty)
    }

    @Test func `an item of another vault is refused before anybody is asked`() async throws {
        let bench = try await VaultFixture.enrolled()
        let foreign = try await VaultFixture.enrolled()
        let item = try await foreign.engine().handlers.seal(box("x"), access: .none, applicationPassword: nil)
        let presenter = ScriptedPresenter()
        #expect(
            await refusal {
                try await bench.engine().handlers.secret(in: .sealed(item), release(), presenter: presenter)
            }?.code == .itemTampered
        )
        #expect(presenter.prompts.isEmpty)
        #expect(try await bench.engine().standing(of: [item]) == [.tampered])
    }

    @Test func `nobody is asked for what was bound to another set of fingers`() async throws {
        let bench = try await VaultFixture.enrolled()
        let engine = bench.engine()
        let item = try await engine.handlers.seal(
            box("x"),
            access: .biometryCurrentSet,
            applicationPassword: nil
        )
        try await bench.enroll(.leftIndex)
        let presenter = ScriptedPresenter()
        #expect(
            await refusal {
                try await engine.handlers.secret(in: .sealed(item), release(), presenter: presenter)
            }?.code == .enrollmentChanged
        )
        #expect(presenter.prompts.isEmpty)
    }

    @Test func `nothing is bound to a set of fingers that is empty`() async throws {
        let bench = try await VaultFixture()
        let reason = "no finger is enrolled that it could be bound to"
        #expect(
            await refusal {
                try await bench.engine().handlers.makeKey(
                    access: .biometryCurrentSet,
                    applicationPassword: nil
                )
            } == ServiceError(.accessRefused, details: [.reason: reason])
        )
    }

    @Test func `without a vault nothing is sealed, and nothing is valid`() async throws {
        let fixture = try Fixture()
        #expect(
            await refusal {
                try await fixture.engine().handlers.seal(box("x"), access: .none, applicationPassword: nil)
            }?.code == .noChip
        )
        let bench = try await VaultFixture()
        let item = try await bench.engine().handlers.seal(box("x"), access: .none, applicationPassword: nil)
        #expect(try await fixture.engine().standing(of: [item]) == [.tampered])
    }
}
