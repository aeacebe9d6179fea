// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import RelyingParty

/// An operator's commands for the keys that sign session tokens.
public struct KeysCommand: Sendable {
    private let keys: TokenKeyStore
    private let log: OperatorLog

    /// Makes the commands for a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - keyFile: The file that seals the keys.
    ///   - makesKeyFile: Makes a missing key file, for ``rotate(revoke:)`` that drops all keys.
    /// - Throws: ``ServerError`` if the key file cannot be used.
    public init(store: any RelyingPartyStore, keyFile: String, makesKeyFile: Bool = false) throws {
        log = OperatorLog(store: store)
        keys = TokenKeyStore(
            documents: StoreDocuments(store: store),
            sealingKey: try makesKeyFile ? KeyFile.openOrMake(keyFile) : KeyFile.open(keyFile)
        )
    }

    /// Makes a new key.
    ///
    /// - Parameter revoke: Drops all other keys at once: all sessions end. Running servers notice it within a second;
    ///   those that have another key file than this one do no more work then.
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
