// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext

/// The store of a program's rights.
///
///     let right = LARight(requirement: .biometryCurrentSet)
///     let saved = try await LARightStore.shared.saveRight(right, identifier: "vault", secret: key)
///     try await saved.authorize(localizedReason: "open the vault")
///     let key = try await saved.secret.rawData
///
/// A saved right consists of a key in the TPM and, if it has a secret, an item sealed by the TPM. Their access control
/// has the requirement of the right. They are keychain items in the program's own access group, with the tag (keys) or
/// service (secrets) `whorl.right`. A program that deletes all its keys therefore also deletes its rights.
///
/// The store never prompts. Its errors are of `NSOSStatusErrorDomain`. Calls do not block; a completion handler is
/// called once, on a private thread.
public final class LARightStore: NSObject, Sendable {
    private override init() { super.init() }

    private static let only = LARightStore()

    /// The store of this program; always the same object.
    public class var shared: LARightStore { only }

    // MARK: - Finding

    /// Returns a saved right, which is not authorized yet.
    ///
    /// - Parameter identifier: The name of the right.
    /// - Returns: The right.
    /// - Throws: `errSecItemNotFound` if the right does not exist, or if it was saved for the current set of fingers
    ///   and the set has changed; `errSecParam` for an empty name.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await RightQueue.run { try Self.find(identifier) }
    }

    /// A variant with a completion handler.
    public func right(
        forIdentifier identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try Self.find(identifier) }, completion: completion)
    }

    // MARK: - Saving

    /// Saves a right, with a new key.
    ///
    /// Only the requirement of the right is saved, not its state or its tag.
    ///
    /// - Parameters:
    ///   - right: The right.
    ///   - identifier: A name for the right, 1 byte to 64 KiB of UTF-8.
    /// - Returns: The saved right, which is not authorized yet.
    /// - Throws: `errSecDuplicateItem` if a usable right has this name; `errSecNotAvailable` without a TPM, or if the
    ///   right requires a passcode or a finger and none is set or enrolled; `errSecParam` for an empty name.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        let requirement = right.requirement
        return try await RightQueue.run { try Self.save(requirement, identifier, nil) }
    }

    /// A variant with a completion handler.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let requirement = right.requirement
        RightQueue.start({ try Self.save(requirement, identifier, nil) }, completion: completion)
    }

    /// Saves a right, with a new key and a secret.
    ///
    /// - Parameters:
    ///   - right: The right.
    ///   - identifier: A name for the right, 1 byte to 64 KiB of UTF-8.
    ///   - secret: The secret, less than 1 MiB. It can be loaded after `authorize`.
    /// - Returns: The saved right, which is not authorized yet.
    /// - Throws: The errors of ``saveRight(_:identifier:)``; `errSecParam` for a secret that is too long. After an
    ///   error, nothing is saved.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        secret: Data
    ) async throws -> LAPersistedRight {
        let requirement = right.requirement
        return try await RightQueue.run { try Self.save(requirement, identifier, secret) }
    }

    /// A variant with a completion handler.
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
    /// It is not an error if the right no longer exists. Another right that now has its name is not removed.
    ///
    /// - Parameter right: The right, which does not have to be authorized.
    /// - Throws: `errSecNotAvailable`, `errSecIO` if the store cannot be used.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await RightQueue.run { try right.items.remove(right.found) }
        await right.deauthorize()
    }

    /// A variant with a completion handler.
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
    /// - Throws: `errSecItemNotFound` if the right does not exist; `errSecParam` for an empty name.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await RightQueue.run { try Self.remove(identifier) }
    }

    /// A variant with a completion handler.
    public func removeRight(
        forIdentifier identifier: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightQueue.start({ try Self.remove(identifier) }, completion: completion)
    }

    /// Removes all rights of this program, and nothing else.
    ///
    /// It is not an error if there are none.
    ///
    /// - Throws: `errSecNotAvailable`, `errSecIO` if the store cannot be used.
    public func removeAllRights() async throws {
        try await RightQueue.run { try RightItems.removeAll() }
    }

    /// A variant with a completion handler.
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
