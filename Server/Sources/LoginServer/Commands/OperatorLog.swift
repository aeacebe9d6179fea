// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion
internal import RelyingParty

/// Writes an operator's actions into the audit log.
struct OperatorLog: Sendable {
    let store: any RelyingPartyStore
    /// The address that the operator's program asked from; empty for the command line.
    var address = ""

    func write(_ event: AuditEntry.Event, _ user: LoginName?) async throws {
        try await store.record(entry(event, user))
    }

    /// Returns a line.
    func entry(_ event: AuditEntry.Event, _ user: LoginName?, _ device: LoginName? = nil) -> AuditEntry {
        AuditEntry(
            at: Int(Date().timeIntervalSince1970),
            event: event,
            user: user,
            device: device,
            address: address
        )
    }
}
