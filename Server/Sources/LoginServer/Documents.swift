// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import RelyingParty

/// The small named documents in a store, shared by all instances.
protocol Documents: Sendable {
    /// Returns a document; `nil` if it does not exist.
    func document(_ name: String) async throws -> Data?
    /// Returns the names of documents that start with a prefix and come after a name, sorted.
    func documentNames(withPrefix prefix: String, after name: String, atMost count: Int) async throws
        -> [String]
    /// Writes a document if it has not changed.
    ///
    /// - Returns: `false` without any effect if the document is no longer `old`.
    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool
}

/// The documents of a relying party's store.
struct StoreDocuments: Documents {
    let store: any RelyingPartyStore

    func document(_ name: String) async throws -> Data? { try await store.document(name) }

    func documentNames(withPrefix prefix: String, after name: String, atMost count: Int) async throws
        -> [String]
    {
        try await store.documentNames(withPrefix: prefix, after: name, atMost: count)
    }

    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool {
        try await store.setDocument(name, to: new, ifWas: old)
    }
}
