// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Foundation
public import LoginAssertion

/// A store in one SQLite database, for one machine; several processes may have it open.
public final class SQLiteRelyingPartyStore: Sendable {
    /// Where the database lies.
    public let path: String

    /// Opens the database, and makes it where there is none.
    public init(path: String) throws(RelyingPartyError) {
        self.path = path
    }
}

extension SQLiteRelyingPartyStore: RelyingPartyStore {
    public func issue(
        _ challenge: ChallengeRecord,
        address: RateBucket?,
        user: RateBucket?,
        device: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Issue { throw RelyingPartyError(.store) }
    public func take(
        _ digest: Data,
        address: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Taken { throw RelyingPartyError(.store) }
    public func register(
        _ device: RegisteredDevice,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration { throw RelyingPartyError(.store) }
    public func markUsed(
        _ device: RegisteredDevice,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool { throw RelyingPartyError(.store) }
    public func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice] { throw RelyingPartyError(.store) }
    public func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool { throw RelyingPartyError(.store) }
    public func rename(_ device: LoginName, to name: String, audit: AuditEntry) async throws(RelyingPartyError) -> Bool { throw RelyingPartyError(.store) }
    public func revoke(_ device: LoginName?, audit: AuditEntry) async throws(RelyingPartyError) -> [LoginName] { throw RelyingPartyError(.store) }
    public func record(_ entry: AuditEntry) async throws(RelyingPartyError) { throw RelyingPartyError(.store) }
    public func audit(of user: LoginName?, atMost count: Int) async throws(RelyingPartyError) -> [AuditEntry] { throw RelyingPartyError(.store) }
    public func purge(keeping auditEntries: Int, atMost count: Int, at now: Int) async throws(RelyingPartyError) -> Bool { throw RelyingPartyError(.store) }
    public func document(_ name: String) async throws(RelyingPartyError) -> Data? { throw RelyingPartyError(.store) }
    public func setDocument(_ name: String, to data: Data?, ifWas old: Data?) async throws(RelyingPartyError) -> Bool { throw RelyingPartyError(.store) }
}
