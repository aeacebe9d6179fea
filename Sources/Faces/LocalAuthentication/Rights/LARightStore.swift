// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext

/// A store for a program's rights.
///
///     let right = LARight(requirement: .biometryCurrentSet)
///     let saved = try await LARightStore.shared.saveRight(right, identifier: "vault", secret: key)
///     try await saved.authorize(localizedReason: "open the vault")
///     let key = try await saved.secret.rawData
///
/// A saved right consists of a key in the TPM and, if it has a secret, an item sealed by the TPM. The access control of
/// both contains the right's requirement. Both are keychain items in the program's own access group, with the tag
/// (keys) or service (secrets) `whorl.right`. A program that deletes all of its keys therefore also deletes its rights.
///
/// The store never prompts, and its calls do not block. Its errors are in `NSOSStatusErrorDomain`. Each completion
/// handler is called once, on a private thread.
public final class LARightStore: NSObject, Sendable {
    private override init() { super.init() }

    private static let only = LARightStore()

    /// The shared store of this program.
    public class var shared: LARightStore { only }

    // MARK: - Finding

    /// Returns a saved right, which is not authorized yet.
    ///
    /// - Parameter identifier: The name of the right.
    /// - Returns: The right.
    /// - Throws: `errSecItemNotFound` if the right does not exist, or if it was saved for the current set of fingers
    ///   and the set has changed; `errSecParam` if the name is empty.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await RightQueue.run { try Self.find(identifier) }
    }

    /// Finds a saved right, and calls the completion handler with the result.
    public func right(
        forIdentifier identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try Self.find(identifier) }, completion: completion)
    }

    // MARK: - Saving

    /// Saves a right, and creates a key for it.
    ///
    /// Only the requirement of the right is saved, not its state or its tag.
    ///
    /// - Parameters:
    ///   - right: The right.
    ///   - identifier: A name for the right: 1 byte to 64 KiB of UTF-8.
    /// - Returns: The saved right, which is not authorized yet.
    /// - Throws: `errSecDuplicateItem` if a usable right has this name; `errSecNotAvailable` if there is no TPM, or if
    ///   the right requires a passcode or a finger and none is set or enrolled; `errSecParam` if the name is empty.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        let requirement = right.requirement
        return try await RightQueue.run { try Self.save(requirement, identifier, nil) }
    }

    /// Saves a right, and calls the completion handler with the result.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let requirement = right.requirement
        RightQueue.start({ try Self.save(requirement, identifier, nil) }, completion: completion)
    }

    /// Saves a right together with a secret, and creates a key for the right.
    ///
    /// - Parameters:
    ///   - right: The right.
    ///   - identifier: A name for the right: 1 byte to 64 KiB of UTF-8.
    ///   - secret: The secret, which must be smaller than 1 MiB. It can be loaded after `authorize`.
    /// - Returns: The saved right, which is not authorized yet.
    /// - Throws: The errors of ``saveRight(_:identifier:)``; `errSecParam` if the secret is too long. If the call
    ///   fails, nothing is saved.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        secret: Data
    ) async throws -> LAPersistedRight {
        let requirement = right.requirement
        return try await RightQueue.run { try Self.save(requirement, identifier, secret) }
    }

    /// Saves a right together with a secret, and calls the completion handler with the result.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        secret: Data,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let requirement = right.requirement
        RightQueue.start({ try Self.save(requirement, identifier, secret) }, completion: completion)
    }

    // MARK: - Removing

    /// Removes a right permanently, with its key and secret, and revokes its authorization.
    ///
    /// The call succeeds even if the right no longer exists. A different right that has since been saved under the same
    /// name is not removed.
    ///
    /// - Parameter right: The right to remove. It does not have to be authorized.
    /// - Throws: `errSecNotAvailable` or `errSecIO` if the store cannot be used.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await RightQueue.run { try right.items.remove(right.found) }
        await right.deauthorize()
    }

    /// Removes a right permanently, and calls the completion handler when done.
    public func removeRight(
        _ right: LAPersistedRight,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightQueue.start({ try right.items.remove(right.found) }) { error in
            guard error == nil else { return completion(error) }
            right.deauthorize { completion(nil) }
        }
    }

    /// Removes a right permanently, with its key and secret.
    ///
    /// - Parameter identifier: The name of the right.
    /// - Throws: `errSecItemNotFound` if the right does not exist; `errSecParam` if the name is empty.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await RightQueue.run { try Self.remove(identifier) }
    }

    /// Removes a right permanently, and calls the completion handler when done.
    public func removeRight(
        forIdentifier identifier: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightQueue.start({ try Self.remove(identifier) }, completion: completion)
    }

    /// Removes all rights of this program, but no other items.
    ///
    /// The call succeeds even if there are no rights.
    ///
    /// - Throws: `errSecNotAvailable` or `errSecIO` if the store cannot be used.
    public func removeAllRights() async throws {
        try await RightQueue.run { try RightItems.removeAll() }
    }

    /// Removes all rights of this program, and calls the completion handler when done.
    public func removeAllRights(completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightQueue.start({ try RightItems.removeAll() }, completion: completion)
    }

    // MARK: - Work

    private static func find(_ identifier: String) throws -> LAPersistedRight {
        try LAPersistedRight(RightItems(identifier))
    }

    private static func save(
        _ requirement: LAAuthenticationRequirement,
        _ identifier: String,
        _ secret: Data?
    ) throws -> LAPersistedRight {
        let items = try RightItems(identifier)
        return LAPersistedRight(items, try items.save(requirement, secret), requirement)
    }

    private static func remove(_ identifier: String) throws {
        let items = try RightItems(identifier)
        guard try items.remove() else { throw items.missing }
    }
}
