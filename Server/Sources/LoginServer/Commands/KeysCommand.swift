// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import RelyingParty

/// An operator's commands for the keys that sign session tokens.
public struct KeysCommand: Sendable {
    private let keys: TokenKeyStore
    private let log: OperatorLog

    /// Creates the commands for a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - keyFile: The file that seals the keys.
    ///   - makesKeyFile: Whether to create a missing key file, for ``rotate(revoke:)`` with `revoke`.
    /// - Throws: ``ServerError`` if the key file cannot be used.
    public init(store: any RelyingPartyStore, keyFile: String, makesKeyFile: Bool = false) throws {
        log = OperatorLog(store: store)
        keys = TokenKeyStore(
            documents: StoreDocuments(store: store),
            sealingKey: try makesKeyFile ? KeyFile.openOrMake(keyFile) : KeyFile.open(keyFile)
        )
    }

    /// Creates a new key.
    ///
    /// - Parameter revoke: Whether to drop all other keys immediately, which ends all sessions. Running servers notice
    ///   within a second; those with another key file stop working then.
    /// - Throws: ``ServerError`` if the key file does not open the other keys, unless they are dropped, and the store's
    ///   error.
    public func rotate(revoke: Bool) async throws {
        let now = Int(Date().timeIntervalSince1970)
        if revoke {
            try await keys.replaceAll(at: now)
            try await log.write(.keysReplaced, nil)
        } else {
            _ = try await keys.update(at: now) { $0.rotate(at: now) }
            try await log.write(.keyRotated, nil)
        }
    }
}
