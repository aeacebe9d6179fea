// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Synchronization

/// A store in which a test lets something happen before or after what it is asked for, such as an error or what another
/// instance does.
struct EventfulStore: RelyingPartyStore {
    enum Call: Hashable {
        case register, revoke, document(String), setDocument(String), count(String), other
    }

    typealias Event = @Sendable (Call) async throws(RelyingPartyError) -> Void

    let base: any RelyingPartyStore
    var before: Event = { _ in }
    var after: Event = { _ in }
    var waiting: StoreWait { base.waiting }

    private func around<Value>(
        _ call: Call,
        _ body: () async throws(RelyingPartyError) -> Value
    ) async throws(RelyingPartyError) -> Value {
        try await before(call)
        let value = try await body()
        try await after(call)
        return value
    }

    func register(
        _ device: RegisteredDevice,
        using nonce: Nonce,
        provided condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration {
        try await around(.register) { () async throws(RelyingPartyError) in
            try await base.register(
                device,
                using: nonce,
                provided: condition,
                atMost: devicesPerUser,
                audit: audit
            )
        }
    }

    func revoke(_ device: LoginName?, audit: AuditEntry) async throws(RelyingPartyError) -> [LoginName] {
        try await around(.revoke) { () async throws(RelyingPartyError) in
            try await base.revoke(device, audit: audit)
        }
    }

    func document(_ name: String) async throws(RelyingPartyError) -> Data? {
        try await around(.document(name)) { () async throws(RelyingPartyError) in
            try await base.document(name)
        }
    }

    func setDocument(_ name: String, to data: Data?, ifWas old: Data?) async throws(RelyingPartyError)
        -> Bool
    {
        try await around(.setDocument(name)) { () async throws(RelyingPartyError) in
            try await base.setDocument(name, to: data, ifWas: old)
        }
    }

    func count(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) -> Int? {
        try await around(.count(bucket.key)) { () async throws(RelyingPartyError) in
            try await base.count(bucket, at: now)
        }
    }

    func refund(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) {
        try await base.refund(bucket, at: now)
    }

    func challengeKey() async throws(RelyingPartyError) -> Data { try await base.challengeKey() }

    func device(_ device: LoginName, of user: LoginName) async throws(RelyingPartyError) -> RegisteredDevice?
    {
        try await base.device(device, of: user)
    }

    func use(_ nonce: Nonce, audit: AuditEntry?) async throws(RelyingPartyError) -> Bool {
        try await base.use(nonce, audit: audit)
    }

    func signIn(
        _ device: RegisteredDevice,
        using nonce: Nonce?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> SigningIn {
        try await base.signIn(device, using: nonce, audit: audit)
    }

    func isUsed(_ nonce: Nonce) async throws(RelyingPartyError) -> Bool { try await base.isUsed(nonce) }

    func documentNames(
        withPrefix prefix: String,
        after name: String,
        atMost count: Int
    ) async throws(RelyingPartyError) -> [String] {
        try await base.documentNames(withPrefix: prefix, after: name, atMost: count)
    }

    func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice] {
        try await base.devices(of: user)
    }

    func isActive(device: LoginName, of user: LoginName, keyID: String) async throws(RelyingPartyError)
        -> Bool
    {
        try await base.isActive(device: device, of: user, keyID: keyID)
    }

    func rename(_ device: LoginName, to name: String, audit: AuditEntry) async throws(RelyingPartyError)
        -> Bool
    {
        try await base.rename(device, to: name, audit: audit)
    }

    func approve(_ device: LoginName, keyID: String, audit: AuditEntry) async throws(RelyingPartyError)
        -> Bool
    {
        try await base.approve(device, keyID: keyID, audit: audit)
    }

    func record(_ entry: AuditEntry) async throws(RelyingPartyError) { try await base.record(entry) }

    func audit(of user: LoginName?, atMost count: Int) async throws(RelyingPartyError) -> [AuditEntry] {
        try await base.audit(of: user, atMost: count)
    }

    func purge(
        keeping audit: AuditRetention,
        of user: LoginName?,
        atMost count: Int,
        at now: Int
    ) async throws(RelyingPartyError) -> Bool {
        try await base.purge(keeping: audit, of: user, atMost: count, at: now)
    }
}

/// Is true once.
final class Once: Sendable {
    private let isOver = Mutex(false)

    func take() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }
}
