// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext

/// The store of a program's rights.
///
///     let right = LARight(requirement: .biometryCurrentSet)
///     let saved = try await LARightStore.shared.saveRight(right, identifier: "vault", secret: key)
///     try await saved.authorize(localizedReason: "open the vault")
///     let key = try await saved.secret.rawData
///
/// A saved right is a key in the chip and, with a secret, an item that the chip seals, with an access control that has
/// the requirements of the right. They are items of the keychain, in the program's own access group; the tag of the
/// keys and the service of the secrets is `whorl.right`. So a program that deletes all its keys deletes its rights.
///
/// Nothing here prompts the owner. Failures have an error of `NSOSStatusErrorDomain`. No call blocks; a completion is
/// called once, on a private thread.
public final class LARightStore: NSObject, Sendable {
    private override init() { super.init() }

    private static let only = LARightStore()

    /// The store of this program; always the same object.
    public class var shared: LARightStore { only }

    // MARK: - Finding

    /// Returns a saved right; it is not authorized yet.
    ///
    /// - Parameter identifier: The name it was saved under.
    /// - Returns: The right.
    /// - Throws: `errSecItemNotFound` if there is no such right, or if it was saved for the current set of fingers and
    ///   that has changed since; `errSecParam` for an empty name.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await RightQueue.run { try Self.find(identifier) }
    }

    /// The same function with a completion.
    public func right(
        forIdentifier identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try Self.find(identifier) }, completion: completion)
    }

    // MARK: - Saving

    /// Saves a right, with a new key.
    ///
    /// The requirement of the right is saved; its state and its tag are not.
    ///
    /// - Parameters:
    ///   - right: The right.
    ///   - identifier: A name for it, 1 byte to 64 KiB of UTF-8.
    /// - Returns: The saved right; it is not authorized yet.
    /// - Throws: `errSecDuplicateItem` if a usable right has this name; `errSecNotAvailable` without a chip, or without
    ///   the means that the right requires (a passcode, an enrolled finger); `errSecParam` for an empty name.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        let requirement = right.requirement
        return try await RightQueue.run { try Self.save(requirement, identifier, nil) }
    }

    /// The same function with a completion.
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
    ///   - identifier: A name for it, 1 byte to 64 KiB of UTF-8.
    ///   - secret: The secret that can be loaded after `authorize`; less than 1 MiB.
    /// - Returns: The saved right; it is not authorized yet.
    /// - Throws: as ``saveRight(_:identifier:)``; `errSecParam` for a secret that is too long. Nothing is kept then.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        secret: Data
    ) async throws -> LAPersistedRight {
        let requirement = right.requirement
        return try await RightQueue.run { try Self.save(requirement, identifier, secret) }
    }

    /// The same function with a completion.
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
    /// It is not an error if the right no longer exists. Another right that now has its name stays.
    ///
    /// - Parameter right: The right; it need not be authorized.
    /// - Throws: `errSecNotAvailable`, `errSecIO` if the store cannot be used.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await RightQueue.run { try right.items.remove(right.found) }
        await right.deauthorize()
    }

    /// The same function with a completion.
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
    /// - Parameter identifier: The name it was saved under.
    /// - Throws: `errSecItemNotFound` if there is no such right; `errSecParam` for an empty name.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await RightQueue.run { try Self.remove(identifier) }
    }

    /// The same function with a completion.
    public func removeRight(
        forIdentifier identifier: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightQueue.start({ try Self.remove(identifier) }, completion: completion)
    }

    /// Removes all rights of this program, and nothing else; it is not an error if there are none.
    ///
    /// - Throws: `errSecNotAvailable`, `errSecIO` if the store cannot be used.
    public func removeAllRights() async throws {
        try await RightQueue.run { try RightItems.removeAll() }
    }

    /// The same function with a completion.
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
