// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation

/// The signing keys in the database, shared by all instances and sealed with a key that is not in the database.
struct TokenKeyStore: Sendable {
    private static let name = "token-keys"
    /// The authenticated purpose of the sealed data, which cannot be used for anything else.
    private static let purpose = Data("whorl-login-server token-keys 1".utf8)

    private let documents: any Documents
    private let sealingKey: SymmetricKey

    init(documents: any Documents, sealingKey: SymmetricKey) {
        self.documents = documents
        self.sealingKey = sealingKey
    }

    /// Checks that a database has no keys.
    ///
    /// - Throws: ``ServerError`` if it has.
    static func requireNone(in documents: any Documents) async throws {
        guard try await documents.document(name) == nil else { throw alreadyThere }
    }

    /// Creates the first keys of a new database.
    ///
    /// - Throws: ``ServerError`` if it already has keys.
    func create(at now: Int) async throws {
        let first = try seal(TokenKeySet(at: now))
        guard try await documents.setDocument(Self.name, to: first, ifWas: nil) else {
            throw Self.alreadyThere
        }
    }

    private static let alreadyThere = ServerError(
        .store,
        "the database already exists; nothing was changed",
        hint: "to run a server with it: serve"
    )

    /// Reads the keys, and adds and drops keys that are due.
    func maintain(at now: Int) async throws -> TokenKeySet {
        try await update(at: now) { $0.maintain(at: now) }
    }

    /// Changes the keys, safely even if other instances do so at the same time.
    ///
    /// - Throws: ``ServerError`` if there are none, because the database is not the one that the server was set up
    ///   with.
    func update(at now: Int, _ change: (inout TokenKeySet) -> Void) async throws -> TokenKeySet {
        // Each failed round means that another instance has succeeded.
        for _ in 0..<100 {
            guard let sealed = try await documents.document(Self.name) else { throw Self.missing }
            let old = try open(sealed)
            var new = old
            change(&new)
            if new == old { return new }
            if try await documents.setDocument(Self.name, to: try seal(new), ifWas: sealed) { return new }
        }
        throw Self.contended
    }

    /// Replaces all keys with a new one; tokens of the old keys are no longer valid.
    ///
    /// The old keys are not opened, so that a compromised key file can be replaced.
    func replaceAll(at now: Int) async throws {
        for _ in 0..<100 {
            guard let sealed = try await documents.document(Self.name) else { throw Self.missing }
            let new = try seal(TokenKeySet(at: now))
            if try await documents.setDocument(Self.name, to: new, ifWas: sealed) { return }
        }
        throw Self.contended
    }

    private static let missing = ServerError(
        .noKeys,
        "the database is empty: it has no signing keys",
        hint: "use the --database with your users; to create a new one: init"
    )

    private static let contended = ServerError(
        .store,
        "cannot change the signing keys: other processes keep changing them"
    )

    private func seal(_ keys: TokenKeySet) throws -> Data {
        let box = try AES.GCM.seal(
            try JSON.encoder.encode(keys),
            using: sealingKey,
            authenticating: Self.purpose
        )
        guard let sealed = box.combined else {
            preconditionFailure("a nonce of 12 bytes has a combined form")
        }
        return sealed
    }

    private func open(_ sealed: Data) throws -> TokenKeySet {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: sealingKey, authenticating: Self.purpose),
            let keys = try? JSONDecoder().decode(TokenKeySet.self, from: bytes)
        else {
            throw ServerError(
                .keyFile,
                "the signing keys in the database cannot be unsealed with this key file",
                hint:
                    "use the --key-file they were sealed with; if it is lost or stolen, run key rotate --revoke"
            )
        }
        return keys
    }
}
