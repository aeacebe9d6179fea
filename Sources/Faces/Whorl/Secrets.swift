// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
public import WhorlService

/// Secrets that the TPM releases after a touch, by name.
///
///     try await Secrets.add("token", Secret("correct horse"), access: .biometryCurrentSet)
///     let token = try await Secrets.get("token", reason: "deploy to production")
///
/// They are the user's, as in `whorl secret`: an unsandboxed program of the user can request any of them, and the prompt
/// names the secret. For secrets of one program, see the keychain (module `KeychainServices`).
public enum Secrets {
    /// Seals a secret in the TPM, and stores it under a new name.
    ///
    /// - Parameters:
    ///   - name: Letters and digits of any script, inner spaces, and `-_.@+:`; at most 255 bytes.
    ///   - secret: The secret, 1 byte to 1 MiB.
    ///   - access: What unlocks the secret; it cannot be changed later.
    /// - Throws: `itemExists`, `nameRefused`, `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`, `noChip`,
    ///   and others.
    public static func add(
        _ name: String,
        _ secret: Secret,
        access: AccessControl = .userPresence
    ) async throws(ServiceError) {
        let parts = ContextParts.current
        let item = MakeItem(.secret(secret.box), access: access, applicationPassword: nil)
        _ = try await parts.ask(AddItem(try parts.item(.secret, name), item)) as SigningKeyPublic?
    }

    /// Prompts for what the secret's access control requires, and returns the secret.
    ///
    /// - Parameters:
    ///   - name: The name of the secret.
    ///   - reason: The reason for the request, which the prompt shows.
    ///   - presenter: Shows the prompt; `nil` uses the session's prompt program, or else the terminal.
    /// - Returns: The secret.
    /// - Throws: `noSuchItem`, `enrollmentChanged`, the reason why the user was not authenticated, and others.
    public static func get(
        _ name: String,
        reason: String,
        presenter: (any PromptPresenter)? = nil
    ) async throws(ServiceError) -> Secret {
        let parts = ContextParts.current
        let released = try await parts.secret(
            in: .named(try parts.item(.secret, name)),
            parts.release(name, reason),
            presenter: presenter ?? parts.presenter
        )
        return Secret(released.product)
    }

    /// Returns the names, access controls and states of all secrets, sorted by name, without a prompt.
    ///
    /// - Throws: A storage error.
    public static func list() async throws(ServiceError) -> [VaultItem] {
        try await ContextParts.current.items(.secret)
    }

    /// Deletes a secret; prompts if its access control requires it and the secret might still be usable.
    ///
    /// - Throws: `noSuchItem`, the reason why the user was not authenticated, and others.
    public static func delete(
        _ name: String,
        presenter: (any PromptPresenter)? = nil
    ) async throws(ServiceError) {
        try await ContextParts.current.delete(.secret, name, presenter)
    }
}
