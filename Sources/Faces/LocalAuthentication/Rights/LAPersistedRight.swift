// SPDX-License-Identifier: Apache-2.0

internal import Keychain

/// A right that ``LARightStore`` keeps, with a key of the chip and perhaps a secret behind it.
///
/// The key and the secret are used after ``LARight/authorize(localizedReason:)`` and until ``LARight/deauthorize()``, without
/// another prompt. An authorization belongs to this object: another one of the same identifier has its own.
///
/// Where the right was saved for the present set of fingers and a finger was added or removed since, or where it was removed,
/// `authorize` and all uses fail with `errSecItemNotFound` (of `NSOSStatusErrorDomain`), and nobody is asked.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    let items: RightItems
    /// The key as it was found; what it does in the chip is done with the one that is kept then.
    let found: SecKey

    init(_ items: RightItems, _ found: SecKey, _ requirement: LAAuthenticationRequirement) {
        self.items = items
        self.found = found
        super.init(requirement: requirement)
    }

    /// The right of a key that was found.
    ///
    /// - Throws: `errSecItemNotFound` for a key that no right has.
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

    /// The secret that it was saved with; loading it fails where there is none.
    public var secret: LASecret { LASecret(of: self) }

    // MARK: - Use

    override func checkExistence() async throws {
        try await RightWork.run { _ = try self.keptKey(nil) }
    }

    /// Does something with the key in the chip.
    func withKey<Value>(_ body: (SecKey) throws -> Value) throws -> Value {
        try authorized { try body(try keptKey($0)) }
    }

    /// The secret, for one use.
    func openSecret() throws -> Data {
        try authorized { context in
            _ = try keptKey(context)
            return try items.loadSecret(context)
        }
    }

    /// Does something with what the owner was recognised by.
    ///
    /// - Throws: `notInteractive` unless the right is authorized; `appCancel` when that is taken back meanwhile.
    private func authorized<Value>(_ body: (LAContext) throws -> Value) throws -> Value {
        guard let context = openContext else { throw LAError.rightNotAuthorized(items.identifier) }
        do {
            return try body(context)
        } catch {
            guard openContext === context else { throw LAError(.appCancel) }
            // Whatever the owner would have to be asked for: only `authorize` asks.
            throw error is LAError ? LAError.rightNotAuthorized(items.identifier) : error
        }
    }

    /// The key that is kept now; another one of the same name is another right.
    private func keptKey(_ context: LAContext?) throws -> SecKey {
        let key = try items.storedKey(context)
        guard key == found else { throw items.missing }
        return key
    }
}

extension LAError {
    /// Only `authorize` asks the owner.
    static func rightNotAuthorized(_ identifier: String) -> LAError {
        LAError(
            .notInteractive,
            message: "The right \"\(identifier)\" is not authorized.",
            recovery: "Call `authorize(localizedReason:)` first."
        )
    }
}
