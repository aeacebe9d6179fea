// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import RelyingParty

/// Sets up the database and the key file of a server, once; no other command creates them.
public struct InitCommand: Sendable {
    private let keyFile: String
    private let usesKeyFile: Bool

    /// Checks the key file before anything is created.
    ///
    /// - Parameters:
    ///   - keyFile: The file that will seal the signing keys.
    ///   - usesKeyFile: Whether to use an existing key file, such as one from elsewhere; otherwise none may exist.
    /// - Throws: ``ServerError`` if a key file exists unexpectedly, or is missing.
    public init(keyFile: String, usesKeyFile: Bool) throws(ServerError) {
        self.keyFile = keyFile
        self.usesKeyFile = usesKeyFile
        if usesKeyFile {
            _ = try KeyFile.open(keyFile)
        } else if KeyFile.exists(keyFile) {
            throw ServerError(
                .keyFile,
                "key file \(keyFile) already exists, so a database was created before",
                hint:
                    "check --database and whether its volume is mounted; to create a new one with this key: --use-key-file"
            )
        }
    }

    /// Creates the key file and the first signing keys.
    ///
    /// - Throws: ``ServerError`` if the database was already set up, and the store's error.
    public func run(on store: any RelyingPartyStore) async throws {
        let documents = StoreDocuments(store: store)
        try await TokenKeyStore.requireNone(in: documents)
        let keys = TokenKeyStore(documents: documents, sealingKey: try KeyFile.openOrMake(keyFile))
        try await keys.create(at: Int(Date().timeIntervalSince1970))
    }
}
