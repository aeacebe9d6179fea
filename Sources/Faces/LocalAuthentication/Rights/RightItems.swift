// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import KeychainServices
import WhorlService

/// The keychain items of a saved right: a key in the TPM, and a secret if the right has one.
///
/// Both are ordinary items in the program's own access group. The key has a reserved tag, and the secret has a reserved
/// service. A right without a key does not exist, even if its secret remains. All methods block the caller and do not
/// prompt.
struct RightItems: Sendable, Hashable {
    /// The tag of all keys and the service of all secrets.
    static let namespace = "whorl.right"

    /// The name by which the program identifies the right.
    let identifier: String

    /// - Throws: `errSecParam` if the name is empty.
    init(_ identifier: String) throws {
        guard !identifier.isEmpty else {
            throw NSError(right: errSecParam, "The right has no identifier.", "Set an identifier.")
        }
        self.identifier = identifier
    }

    // MARK: - Queries

    private typealias Query = [CFString: Any]

    private static var keys: Query {
        [
            kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(namespace.utf8),
            kSecAttrAccessGroup: ContextParts.current.application.rawValue,
        ]
    }

    private static var secrets: Query {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: namespace,
            kSecAttrAccessGroup: ContextParts.current.application.rawValue,
        ]
    }

    // The name is compared as bytes. Two names that only look the same are different rights.
    private var name: Data { Data(identifier.utf8) }
    private var key: Query { RightItems.keys.merging([kSecAttrApplicationLabel: name]) { $1 } }
    private var secret: Query { RightItems.secrets.merging([kSecAttrAccount: name]) { $1 } }

    // MARK: - Saving

    /// Creates the key, and stores it together with the secret.
    ///
    /// - Throws: `errSecDuplicateItem` if a right with this name already exists; that right is not changed.
    ///   `errSecNotAvailable` if the new right requires a finger and no finger is enrolled; otherwise, an error from
    ///   the TPM or the store. If the call fails, nothing is saved.
    func save(_ requirement: LAAuthenticationRequirement, _ value: Data?) throws -> SecKey {
        guard SecItemCopyMatching(key as CFDictionary, nil) != errSecSuccess else { throw duplicate }
        if requirement.needsFinger, RightItems.hasNoFinger {
            throw NSError(
                right: errSecNotAvailable,
                "The right \"\(identifier)\" requires a finger, but no finger is enrolled.",
                "Enroll a finger first."
            )
        }
        let own: Query = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecAttrAccessControl: requirement.accessControl(.privateKeyUsage),
        ]
        let wanted = own.merging(key) { own, _ in own }
        var error: Unmanaged<CFError>?
        guard let made = SecKeyCreateRandomKey(wanted as CFDictionary, &error) else {
            throw error.rightFailure
        }
        // The label is one of the attributes that distinguish keys. If two calls save at the same time, one is first.
        var items: [Query] = [key.merging([kSecValueRef: made]) { $1 }]
        if let value {
            let guarded: Query = [
                kSecValueData: value, kSecAttrAccessControl: requirement.accessControl(),
            ]
            items.append(secret.merging(guarded) { $1 })
        }
        // The secret of a right that is no longer usable is replaced together with its key.
        let status = SecItemBatch.add(items.map { $0 as CFDictionary }, inPlaceOf: secret as CFDictionary)
        guard status == errSecSuccess else {
            throw status == errSecDuplicateItem ? duplicate : failure(status)
        }
        return made
    }

    private static var hasNoFinger: Bool {
        var error: NSError?
        let isReady = LAContext().canEvaluatePolicy(
            .deviceOwnerAuthenticationWithBiometrics,
            error: &error
        )
        return !isReady && error?.code == LAError.biometryNotEnrolled.rawValue
    }

    // MARK: - Using

    /// Returns the key, for use with a context.
    ///
    /// - Throws: `errSecItemNotFound` if the key does not exist or can never be used again.
    func storedKey(_ context: LAContext? = nil) throws -> SecKey {
        var query = key
        query[kSecReturnRef] = true
        query[kSecUseAuthenticationContext] = context
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard status == errSecSuccess else { throw failure(status) }
        guard let key = found as? SecKey else { throw failure(errSecItemNotFound) }
        return key
    }

    /// Returns the secret, using a context in which the owner has been recognized.
    ///
    /// - Throws: `errSecItemNotFound` if there is no secret; `notInteractive` if the authentication is no longer
    ///   sufficient.
    func loadSecret(_ context: LAContext) throws -> Data {
        var query = secret
        query[kSecReturnData] = true
        query[kSecUseAuthenticationContext] = context
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        // Keys throw the same error.
        if [errSecInteractionNotAllowed, errSecAuthFailed].contains(status) {
            throw LAError.rightNotAuthorized(identifier)
        }
        if status == errSecItemNotFound {
            throw NSError(
                right: status,
                "The right \"\(identifier)\" has no secret.",
                "Save the right with a secret."
            )
        }
        guard status == errSecSuccess, let value = found as? Data else { throw failure(status) }
        return value
    }

    // MARK: - Removing

    /// Removes a right.
    ///
    /// This does nothing if a different right has since been saved under the same name.
    ///
    /// - Parameter own: The key that was found when the right was loaded.
    /// - Throws: An error from the store.
    func remove(_ own: SecKey) throws {
        do {
            guard try storedKey() == own else { return }
        } catch let error as NSError where error.isStatus(errSecItemNotFound) {
            // The remains of a right that is no longer usable are removed too.
        }
        _ = try remove()
    }

    /// Removes the key and the secret, even if they are no longer usable.
    ///
    /// - Returns: Whether anything was removed.
    func remove() throws -> Bool {
        try RightItems.removed(SecItemBatch.delete([secret as CFDictionary, key as CFDictionary])) {
            failure($0)
        }
    }

    /// Removes the items of all rights, but no other items.
    static func removeAll() throws {
        _ = try removed(SecItemBatch.delete([secrets as CFDictionary, keys as CFDictionary])) {
            NSError(right: $0, "Cannot remove the saved rights.", nil)
        }
    }

    /// Returns whether a status means that items were deleted.
    private static func removed(_ status: OSStatus, _ failure: (OSStatus) -> NSError) throws -> Bool {
        guard status != errSecItemNotFound else { return false }
        guard status == errSecSuccess else { throw failure(status) }
        return true
    }

    // MARK: - Failures

    /// The error for a right that does not exist or no longer exists.
    var missing: NSError { failure(errSecItemNotFound) }

    private var duplicate: NSError {
        NSError(
            right: errSecDuplicateItem,
            "The right \"\(identifier)\" is already saved.",
            "Remove it first, or use another identifier."
        )
    }

    private func failure(_ status: OSStatus) -> NSError {
        guard status != errSecItemNotFound else {
            return NSError(
                right: status,
                "The saved right \"\(identifier)\" does not exist, or a finger was added or removed after it was saved "
                    + "for the current set of fingers.",
                "Save the right again."
            )
        }
        let text = SecCopyErrorMessageString(status, nil).map(String.init(describing:)) ?? "status \(status)"
        return NSError(right: status, "Cannot use the saved right \"\(identifier)\": \(text)", nil)
    }
}

extension NSError {
    /// Creates an error with a status, a message and a recovery suggestion.
    convenience init(right status: OSStatus, _ message: String, _ recovery: String?) {
        var info = [NSLocalizedDescriptionKey: message]
        info[NSLocalizedRecoverySuggestionErrorKey] = recovery
        self.init(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: info)
    }

    fileprivate func isStatus(_ status: OSStatus) -> Bool {
        domain == NSOSStatusErrorDomain && code == Int(status)
    }
}

extension Unmanaged<CFError>? {
    /// The error to throw if one of Apple's functions reports this error.
    var rightFailure: NSError {
        self?.takeRetainedValue() ?? NSError(right: errSecInternalError, "An unknown error occurred.", nil)
    }
}
