// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import WhorlContext
public import FoundationEssentials
public import WhorlService

/// P-256 keys that sign inside the TPM after a touch, by name.
///
///     let key = try await Keys.create("signer")
///     let signature = try await key.sign(message, reason: "sign the release")
///
/// They are the user's, as in `whorl key`: an unsandboxed program of the user can request a signature with any of them.
public enum Keys {
    /// Creates a key in the TPM, which it never leaves.
    ///
    /// - Parameters:
    ///   - name: As for ``Secrets/add(_:_:access:)``.
    ///   - access: What unlocks the key; it cannot be changed later.
    /// - Returns: The key.
    /// - Throws: `itemExists`, `nameRefused`, `passcodeNotSet`, `accessRefused`, `noChip`, and others.
    @discardableResult
    public static func create(
        _ name: String,
        access: AccessControl = .userPresence
    ) async throws(ServiceError) -> Key {
        let parts = ContextParts.current
        let item = MakeItem(.key, access: access, applicationPassword: nil)
        _ = try await parts.ask(AddItem(try parts.item(.key, name), item)) as SigningKeyPublic?
        return Key(name: name)
    }

    /// Returns the key with a name, without checking that it exists.
    public static func key(_ name: String) -> Key { Key(name: name) }

    /// Returns the names, access controls and states of all keys, sorted by name, without a prompt.
    ///
    /// - Throws: A storage error.
    public static func list() async throws(ServiceError) -> [VaultItem] {
        try await ContextParts.current.items(.key)
    }

    /// Deletes a key; prompts if its access control requires it and the key might still be usable.
    ///
    /// - Throws: `noSuchItem`, the reason why the user was not authenticated, and others.
    public static func delete(
        _ name: String,
        presenter: (any PromptPresenter)? = nil
    ) async throws(ServiceError) {
        try await ContextParts.current.delete(.key, name, presenter)
    }
}

/// A P-256 key in the TPM.
public struct Key: Sendable, Hashable {
    /// The name of the key.
    public let name: String

    /// The public half, without a prompt.
    ///
    /// Errors: `noSuchItem`, `itemTampered`, a storage error.
    public var publicKey: SigningKeyPublic {
        get async throws(ServiceError) {
            let parts = ContextParts.current
            return try await parts.ask(ReadPublicKey(of: try parts.item(.key, name)))
        }
    }

    /// Prompts for what the key's access control requires, and returns a signature (ECDSA with SHA-256).
    ///
    /// - Parameters:
    ///   - message: The message, which is hashed in this process.
    ///   - reason: The reason for the request, which the prompt shows; it does not show the message.
    ///   - presenter: Shows the prompt; `nil` uses the session's prompt program, or else the terminal.
    /// - Returns: The signature.
    /// - Throws: `noSuchItem`, `enrollmentChanged`, the reason why the user was not authenticated, and others.
    public func sign(
        _ message: some DataProtocol,
        reason: String,
        presenter: (any PromptPresenter)? = nil
    ) async throws(ServiceError) -> Signature {
        let parts = ContextParts.current
        let digest = Data(SHA256.hash(data: message))
        let released = try await parts.signature(
            over: digest,
            with: .named(try parts.item(.key, name)),
            parts.release(name, reason),
            presenter: presenter ?? parts.presenter
        )
        return released.product
    }
}
