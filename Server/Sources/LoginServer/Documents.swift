// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import RelyingParty

/// The small named documents of a store, which all instances share.
protocol Documents: Sendable {
    /// Returns a document; `nil` if it does not exist.
    func document(_ name: String) async throws -> Data?
    /// - Returns: `false`, and nothing has changed, if the document is not what it was.
    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool
}

/// The documents of a relying party's store.
struct StoreDocuments: Documents {
    let store: any RelyingPartyStore

    func document(_ name: String) async throws -> Data? { try await store.document(name) }

    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool {
        try await store.setDocument(name, to: new, ifWas: old)
    }
}
