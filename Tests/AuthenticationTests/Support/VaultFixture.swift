// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
@testable import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Testing
import WhorlTPM
import WhorlVault
import WhorlService

/// A fixture with a chip of its own, a vault on it, and the generations of the fingers counted there.
final class VaultFixture: Sendable {
    let fixture: Fixture
    let tpm: SoftwareTPM
    let device: TPMDevice
    let vault: Vault
    private let database: StateDatabase

    init(_ steps: [ScriptedReader.Step] = []) async throws {
        fixture = try Fixture(steps)
        tpm = try SoftwareTPM()
        device = TPMDevice(try TPMAddress(tpm.address))
        database = try fixture.database()
        vault = Vault(device: device, database: database)
        try await vault.provision()
    }

    /// With the right index finger enrolled.
    static func enrolled(_ steps: [ScriptedReader.Step] = []) async throws -> VaultFixture {
        let fixture = try await VaultFixture(steps)
        try await fixture.enroll(.rightIndex)
        return fixture
    }

    private var store: EnrollmentStore {
        EnrollmentStore(database: database, generations: VaultCounter(vault: vault))
    }

    @discardableResult
    func enroll(_ finger: Finger) async throws -> EnrolledFinger {
        try await store.add(
            Template(bytes: Array(finger.rawValue.utf8)),
            as: finger,
            label: nil,
            profile: fixture.profile,
            on: fixture.reader.info,
            at: Date(timeIntervalSince1970: 1_700_000_000),
            consent: try await store.agreed(.add(finger), fixture.profile)
        )
    }

    func remove(_ finger: EnrolledFinger) async throws {
        _ = try await store.beginRemoval(
            of: .print(finger.id),
            profile: fixture.profile,
            consent: try await store.agreed(.remove(.print(finger.id)), fixture.profile)
        )
    }

    func engine(strength: TouchStrength = .any) -> AuthenticationEngine {
        let (reader, vault) = (fixture.reader, vault)
        let found = ExistingVault(vault)
        return AuthenticationEngine(
            profile: fixture.profile,
            state: StateAccess(directory: fixture.directory, generations: VaultCounter(vault: vault)),
            passcode: VaultPasscode(of: fixture.profile, in: found),
            vault: found,
            time: fixture.clock.time,
            strength: strength,
            reader: { reader }
        )
    }
}

/// Counts in the chip, as a real program does.
private struct VaultCounter: GenerationCounter {
    let vault: Vault

    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        try await vault.generation(of: profile, stored: stored)
    }

    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {
        try await vault.advance(profile, to: generation)
    }
}

/// A request for a release in a session.
func release(
    in session: OwnerSession? = nil,
    interactionAllowed: Bool = true,
    reuse: Duration = .zero
) -> ReleaseRequest {
    var evaluation = Fixture.request(.deviceOwner, reuse: reuse, interactionAllowed: interactionAllowed)
    evaluation.session = session
    return ReleaseRequest(evaluation)
}

/// The same for an evaluation.
func evaluation(
    _ policy: WhorlService.Policy = .biometrics,
    for purpose: TouchPurpose = .storedByProgram,
    in session: OwnerSession,
    reuse: Duration = .zero
) -> EvaluationRequest {
    var evaluation = Fixture.request(policy, purpose: purpose, reuse: reuse)
    evaluation.session = session
    return evaluation
}

/// Why a release gave nothing; `nil` when it gave something.
func refusal(_ body: () async throws -> some Any) async -> ServiceError? {
    do {
        _ = try await body()
        return nil
    } catch let error as ServiceError {
        return error
    } catch {
        Issue.record("\(error)")
        return nil
    }
}

func box(_ text: String) -> SecretBox { SecretBox(secret(text)) }

func data(_ secret: SecretBox) -> Data { secret.bytes.withUnsafeBytes { Data($0) } }
