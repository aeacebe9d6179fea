// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices

/// A right that ``LARightStore`` keeps, with a key in the chip and optionally a secret.
///
/// The key and the secret can be used after ``LARight/authorize(localizedReason:)`` and until
/// ``LARight/deauthorize()``, without another prompt. An authorization belongs to this object: another object with the
/// same identifier has its own.
///
/// If the right was saved for the current set of fingers and a finger was added or removed since, or if the right was
/// removed, `authorize` and all uses fail with `errSecItemNotFound` (of `NSOSStatusErrorDomain`), without a prompt.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    let items: RightItems
    /// The key as it was found; operations in the chip use the key that is stored at that time.
    let found: SecKey

    init(_ items: RightItems, _ found: SecKey, _ requirement: LAAuthenticationRequirement) {
        self.items = items
        self.found = found
        super.init(requirement: requirement)
    }

    /// Makes the right of a key that was found.
    ///
    /// - Throws: `errSecItemNotFound` for a key that belongs to no right.
    convenience init(_ items: RightItems) throws {
        let key = try items.storedKey()
        guard let told = SecKeyCopyAttributes(key),
            told[kSecAttrTokenID] as? String == String(describing: kSecAttrTokenIDSecureEnclave),
            let access = told[kSecAttrAccessControl] as? SecAccessControl,
            let requirement = LAAuthenticationRequirement(stored: access)
        else { throw items.missing }
        self.init(items, key, requirement)
    }

    /// The key, whose private half never leaves the chip.
    public var key: LAPrivateKey { LAPrivateKey(of: self) }

    /// The secret that it was saved with; loading it fails if there is none.
    public var secret: LASecret { LASecret(of: self) }

    // MARK: - Use

    override func checkExistence() async throws {
        try await RightQueue.run { _ = try self.keptKey(nil) }
    }

    /// Performs an operation with the key in the chip.
    func withKey<Value>(_ body: (SecKey) throws -> Value) throws -> Value {
        try authorized { try body(try keptKey($0)) }
    }

    /// Returns the secret, for one use.
    func openSecret() throws -> Data {
        try authorized { context in
            _ = try keptKey(context)
            return try items.loadSecret(context)
        }
    }

    /// Performs an operation with the context that the owner authorized.
    ///
    /// - Throws: `notInteractive` unless the right is authorized; `appCancel` if the authorization is revoked during
    ///   the operation.
    private func authorized<Value>(_ body: (LAContext) throws -> Value) throws -> Value {
        guard let context = openContext else { throw LAError.rightNotAuthorized(items.identifier) }
        do {
            return try body(context)
        } catch {
            guard openContext === context else { throw LAError(.appCancel) }
            // Only `authorize` prompts, whatever the owner would have to show here.
            throw error is LAError ? LAError.rightNotAuthorized(items.identifier) : error
        }
    }

    /// Returns the key that is stored now; a different key of the same name is a different right.
    private func keptKey(_ context: LAContext?) throws -> SecKey {
        let key = try items.storedKey(context)
        guard key == found else { throw items.missing }
        return key
    }
}

extension LAError {
    /// Returns the error of a right that is not authorized; only `authorize` prompts.
    static func rightNotAuthorized(_ identifier: String) -> LAError {
        LAError(
            .notInteractive,
            message: "The right \"\(identifier)\" is not authorized.",
            recovery: "Call `authorize(localizedReason:)` first."
        )
    }
}

/// The secret that a right was saved with.
///
/// It retains its right, and so the authorization.
public final class LASecret: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
        super.init()
    }

    /// The bytes of the secret; the right must be authorized, and reading them never prompts.
    ///
    /// They are in ordinary memory, as with Apple.
    ///
    /// - Throws: ``LAError/notInteractive`` unless the right is authorized, ``LAError/appCancel`` if the authorization
    ///   is revoked during the operation; otherwise a status of `NSOSStatusErrorDomain`: `errSecItemNotFound` if the
    ///   right has no secret, or no longer exists; another one if the chip or the store refused.
    public var rawData: Data {
        get async throws { try await RightQueue.run { try self.right.openSecret() } }
    }

    /// The same with a completion, which is called once, on a private thread.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightQueue.start({ try self.right.openSecret() }, completion: completion)
    }
}
