// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Synchronization
import Testing

@testable import RelyingParty

/// A clock that stands still until it is set.
final class Clock: Sendable {
    private let seconds = Mutex(1_800_000_000)
    var now: Int { seconds.withLock { $0 } }
    func advance(by count: Int) { seconds.withLock { $0 += count } }
}

/// A server on a store, with its clock and what it told.
final class Bank: Sendable {
    static let origin = known(LoginOrigin("https://bank.example"))
    let home: StoreHome
    let party: RelyingParty
    let clock: Clock
    private let box: EventBox
    /// What the server told.
    var heard: [RelyingPartyEvent] { box.all }

    convenience init(
        _ kind: StoreKind = .usual,
        _ change: (inout RelyingParty.Configuration) -> Void = { _ in }
    ) async throws {
        var configuration = RelyingParty.Configuration(origin: Self.origin)
        configuration.limits.perAddress = nil
        change(&configuration)
        try await self.init(StoreHome(kind), configuration, Clock())
    }

    /// A server that takes attestations of these chips.
    convenience init(
        _ kind: StoreKind = .usual,
        trusting chips: SoftChip...,
        change: (inout RelyingParty.Configuration) -> Void = { _ in }
    ) async throws {
        var configuration = RelyingParty.Configuration(origin: Self.origin)
        configuration.limits.perAddress = nil
        configuration.attestationPolicy = .allow
        change(&configuration)
        try await self.init(StoreHome(kind), configuration, Clock(), KnownChips(chips: chips))
    }

    private init(
        _ home: StoreHome,
        _ configuration: RelyingParty.Configuration,
        _ clock: Clock,
        _ endorsements: any EndorsementAuthority = NoEndorsements()
    ) async throws {
        self.home = home
        self.clock = clock
        let events = EventBox()
        party = RelyingParty(
            store: try await home.open(),
            configuration: configuration,
            endorsements: endorsements,
            events: { events.append($0) },
            now: { Date(timeIntervalSince1970: TimeInterval(clock.now)) }
        )
        box = events
    }

    /// The same server on another connection, as after a restart or on another machine.
    func another(
        _ change: (inout RelyingParty.Configuration) -> Void = { _ in }
    ) async throws -> Bank {
        var configuration = party.configuration
        change(&configuration)
        return try await Bank(home, configuration, clock, party.endorsements)
    }

    /// The same server, which trusts other chips.
    func another(trusting chips: SoftChip...) async throws -> Bank {
        try await Bank(home, party.configuration, clock, KnownChips(chips: chips))
    }

    /// Enables a device.
    @discardableResult
    func enable(
        _ device: Device,
        with attestation: AttestationStatement? = nil
    ) async throws(RelyingPartyError) -> RegisteredDevice {
        let challenge = try await party.challenge(
            for: device.user,
            device: device.name,
            purpose: .enable,
            from: ""
        )
        // A key of software signs whatever it is given.
        let assertion = known(
            try? device.assertion(answering: challenge.challenge, at: clock.now, purpose: .enable)
        )
        return try await party.enable(
            assertion: assertion,
            publicKey: device.key.der,
            name: "a laptop",
            as: device.user,
            from: "192.0.2.1",
            attestation: attestation
        )
    }

    /// Why a device is not enabled; `nil` where it is.
    func refusal(_ device: Device, with attestation: AttestationStatement?) async -> RelyingPartyError.Code? {
        await code { () async throws(RelyingPartyError) in _ = try await enable(device, with: attestation) }
    }

    func challenge(
        _ device: Device,
        purpose: LoginClaims.Purpose = .login
    ) async throws -> Data {
        try await party.challenge(for: device.user, device: device.name, purpose: purpose, from: "").challenge
    }

    /// What a device answers to a fresh challenge of its own.
    func answer(_ device: Device) async throws -> String {
        try device.assertion(answering: await challenge(device), at: clock.now)
    }

    func signIn(_ assertion: String) async throws -> SignIn {
        try await party.signIn(assertion: assertion, from: "192.0.2.1")
    }

    /// Why a sign-in is refused; `nil` where it is not.
    func refusal(_ assertion: String) async -> RelyingPartyError.Code? {
        await code { () async throws(RelyingPartyError) in
            _ = try await party.signIn(assertion: assertion, from: "192.0.2.1")
        }
    }

    func reasons(_ user: LoginName) async throws -> [String] {
        try await party.audit(of: user).compactMap(\.reason)
    }
}

final class EventBox: Sendable {
    private let events = Mutex<[RelyingPartyEvent]>([])
    var all: [RelyingPartyEvent] { events.withLock { $0 } }
    func append(_ event: RelyingPartyEvent) { events.withLock { $0.append(event) } }
}

/// What a test knows to be there.
func known<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("a test's own value is not of its form") }
    return value
}

/// Why `body` is refused; `nil` where it is not.
func code(_ body: () async throws(RelyingPartyError) -> Void) async -> RelyingPartyError.Code? {
    do throws(RelyingPartyError) {
        try await body()
        return nil
    } catch {
        return error.code
    }
}

/// A device with a key of software.
struct Device: Sendable {
    let privateKey: P256.Signing.PrivateKey
    let key: LoginKey
    let user: LoginName
    let name: LoginName
    var domainState: Data? = Data(repeating: 9, count: 32)
    var method = LoginClaims.Method.finger

    init(_ user: String = "ada", _ name: String = "laptop", key: P256.Signing.PrivateKey = .init()) {
        privateKey = key
        self.key = known(LoginKey(x963: key.publicKey.x963Representation))
        self.user = known(LoginName(user))
        self.name = known(LoginName(name))
    }

    func claims(
        answering challenge: Data,
        at now: Int,
        purpose: LoginClaims.Purpose = .login,
        origin: LoginOrigin = Bank.origin,
        keyID: String? = nil
    ) -> LoginClaims {
        known(
            LoginClaims(
                origin: origin,
                user: user,
                device: name,
                keyID: keyID ?? key.id,
                purpose: purpose,
                challenge: challenge,
                issuedAt: now,
                id: Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }),
                domainState: domainState,
                method: method
            )
        )
    }

    func assertion(
        answering challenge: Data,
        at now: Int,
        purpose: LoginClaims.Purpose = .login,
        origin: LoginOrigin = Bank.origin,
        keyID: String? = nil
    ) throws -> String {
        try sign(claims(answering: challenge, at: now, purpose: purpose, origin: origin, keyID: keyID))
    }

    func sign(_ claims: LoginClaims) throws -> String {
        let draft = AssertionDraft(claims)
        return draft.signed(try privateKey.signature(for: draft.signingInput).rawRepresentation)
    }

    /// Any header and payload, signed as an assertion is.
    func sign(header: Data, payload: Data) throws -> String {
        let input = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        let signature = try privateKey.signature(for: Data(input.utf8)).rawRepresentation
        return input + "." + Base64URL.encode(signature)
    }
}

/// The parts of an assertion, decoded.
struct Parts {
    var header: String
    var payload: String
    let signature: Data

    init(_ assertion: String) throws {
        let parts = try assertion.split(separator: ".").map { try #require(Base64URL.decode(String($0))) }
        header = String(decoding: parts[0], as: UTF8.self)
        payload = String(decoding: parts[1], as: UTF8.self)
        signature = parts[2]
    }

    /// The same text of other parts, with a signature of the device.
    func signed(by device: Device) throws -> String {
        try device.sign(header: Data(header.utf8), payload: Data(payload.utf8))
    }
}

extension RelyingPartyStore {
    /// Registers a device by a challenge that nothing else has answered.
    func register(
        _ device: RegisteredDevice,
        provided condition: RegistrationCondition? = nil,
        atMost devicesPerUser: Int = 9,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration {
        try await register(
            device,
            using: .another(),
            provided: condition,
            atMost: devicesPerUser,
            audit: audit
        )
    }
}

extension Nonce {
    /// Returns a nonce that no other challenge has.
    static func another(expiresAt: Int = 1_800_000_120) -> Nonce { Nonce(expiresAt: expiresAt) }
}

extension Device {
    /// The device as a store keeps it.
    var registered: RegisteredDevice {
        RegisteredDevice(
            user: user,
            device: name,
            key: key,
            name: "a laptop",
            enabledAt: 0,
            lastUsedAt: nil,
            domainState: domainState
        )
    }

    var entry: AuditEntry { AuditEntry(at: 0, event: .enabled, user: user, device: name, address: "") }
}
