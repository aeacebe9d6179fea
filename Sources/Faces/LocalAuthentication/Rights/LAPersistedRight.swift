// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices

/// A right stored by ``LARightStore``, with a key in the TPM and optionally a secret.
///
/// Between ``LARight/authorize(localizedReason:)`` and ``LARight/deauthorize()``, the key and the secret can be used
/// without another prompt. The authorization belongs to this object, not to its identifier: other objects with the same
/// identifier are authorized separately.
///
/// If the right was removed, `authorize` and every use of the key or the secret fail with `errSecItemNotFound` (in
/// `NSOSStatusErrorDomain`), without a prompt. The same happens if the right was saved for the current set of fingers
/// and a finger has since been added or removed.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    let items: RightItems
    /// The key that was found when this object was created.
    ///
    /// Operations in the TPM use the key that is stored at the time of the operation.
    let found: SecKey

    init(_ items: RightItems, _ found: SecKey, _ requirement: LAAuthenticationRequirement) {
        self.items = items
        self.found = found
        super.init(requirement: requirement)
    }

    /// Creates the right from its keychain items.
    ///
    /// - Throws: `errSecItemNotFound` if there is no key, or if the key does not belong to a right.
    convenience init(_ items: RightItems) throws {
        let key = try items.storedKey()
        guard let told = SecKeyCopyAttributes(key),
            told[kSecAttrTokenID] as? String == String(describing: kSecAttrTokenIDSecureEnclave),
            let access = told[kSecAttrAccessControl] as? SecAccessControl,
            let requirement = LAAuthenticationRequirement(stored: access)
        else { throw items.missing }
        self.init(items, key, requirement)
    }

    /// The key, whose private half never leaves the TPM.
    public var key: LAPrivateKey { LAPrivateKey(of: self) }

    /// The secret saved with the right.
    ///
    /// Loading the secret fails if the right does not have one.
    public var secret: LASecret { LASecret(of: self) }

    // MARK: - Use

    override func checkExistence() async throws {
        try await RightQueue.run { _ = try self.keptKey(nil) }
    }

    /// Performs an operation with the key in the TPM.
    func withKey<Value>(_ body: (SecKey) throws -> Value) throws -> Value {
        try authorized { try body(try keptKey($0)) }
    }

    /// Returns the secret for a single use.
    func openSecret() throws -> Data {
        try authorized { context in
            _ = try keptKey(context)
            return try items.loadSecret(context)
        }
    }

    /// Performs an operation in the context in which the owner was recognized.
    ///
    /// - Throws: `notInteractive` if the right is not authorized; `appCancel` if it is deauthorized during the
    ///   operation.
    private func authorized<Value>(_ body: (LAContext) throws -> Value) throws -> Value {
        guard let context = openContext else { throw LAError.rightNotAuthorized(items.identifier) }
        do {
            return try body(context)
        } catch {
            guard openContext === context else { throw LAError(.appCancel) }
            // Only `authorize` prompts, whatever authentication would be required here.
            throw error is LAError ? LAError.rightNotAuthorized(items.identifier) : error
        }
    }

    /// Returns the currently stored key.
    ///
    /// A different key with the same name belongs to a different right.
    private func keptKey(_ context: LAContext?) throws -> SecKey {
        let key = try items.storedKey(context)
        guard key == found else { throw items.missing }
        return key
    }
}

extension LAError {
    /// Returns the error for a right that is not authorized.
    ///
    /// Only `authorize` prompts.
    static func rightNotAuthorized(_ identifier: String) -> LAError {
        LAError(
            .notInteractive,
            message: "The right \"\(identifier)\" is not authorized.",
            recovery: "Call `authorize(localizedReason:)` first."
        )
    }
}

/// A secret that was saved with a right.
///
/// The secret retains its right, and therefore preserves the authorization.
public final class LASecret: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
        super.init()
    }

    /// The bytes of the secret.
    ///
    /// The right must already be authorized, because reading the bytes never prompts.
    ///
    /// As on Apple's systems, the bytes are in ordinary memory.
    ///
    /// - Throws: ``LAError/notInteractive`` if the right is not authorized; ``LAError/appCancel`` if it is deauthorized
    ///   during the operation. Other errors are in `NSOSStatusErrorDomain`: `errSecItemNotFound` if the right has no
    ///   secret or no longer exists, or another status if the TPM or the store failed.
    public var rawData: Data {
        get async throws { try await RightQueue.run { try self.right.openSecret() } }
    }

    /// Loads the bytes of the secret, and calls the completion handler once, on a private thread.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightQueue.start({ try self.right.openSecret() }, completion: completion)
    }
}
