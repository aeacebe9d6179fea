// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion
internal import RelyingParty

/// Records an operator's actions in the audit log.
struct OperatorLog: Sendable {
    let store: any RelyingPartyStore
    /// The address of the operator's program; empty for the command line.
    var address = ""

    func write(_ event: AuditEntry.Event, _ user: LoginName?) async throws {
        try await store.record(entry(event, user))
    }

    /// Returns an entry.
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
