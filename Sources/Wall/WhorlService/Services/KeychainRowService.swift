// SPDX-License-Identifier: Apache-2.0

/// The rows of the keychain that belong to one profile, in the access groups of one program.
///
/// The service stores rows and does not ask the owner: its callers seal what an access control protects, and the chip
/// decides who opens it. Each call is one transaction, may be made from any thread, and blocks the calling thread
/// until the transaction has ended, as the functions of Apple's keychain do. A change is on the disk when its call
/// returns.
public protocol KeychainRowService: Sendable {
    /// The access groups that the program may use; the first one is its own.
    var groups: [String] { get }

    /// Returns the selected rows; nothing is made if nothing was ever stored.
    ///
    /// Rows that Whorl did not write, or that were changed from outside, are left out.
    ///
    /// - Parameters:
    ///   - match: The filter.
    ///   - withValues: Whether to decrypt the values that the service encrypts.
    ///   - limit: The maximum number of rows.
    /// - Returns: The rows: the oldest first without a limit, and those of the filter's first group first with one.
    /// - Throws: the reason why the state cannot be used.
    func rows(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int
    ) throws(StateError) -> [KeychainRow]

    /// Stores items, all or none.
    ///
    /// The dates of creation and modification are set to the current time where a record has none. A row that was
    /// changed from outside keeps no item from taking its name, and is deleted.
    ///
    /// - Parameters:
    ///   - new: The items.
    ///   - replacing: Rows that are deleted first, if they are still in this state.
    /// - Returns: The outcome; never `stale`.
    /// - Throws: the reason why the state cannot be used.
    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome

    /// Replaces the records and values of rows, of all or none.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - replacing: Other rows that are deleted first, if they are still in this state.
    /// - Returns: The outcome; `stale` if one of the rows was changed or deleted since it was read.
    /// - Throws: the reason why the state cannot be used.
    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome

    /// Deletes the rows that any of the filters selects.
    ///
    /// - Parameter matches: The filters.
    /// - Returns: The number of deleted rows.
    /// - Throws: the reason why the state cannot be used.
    func delete(_ matches: [KeychainMatch]) throws(StateError) -> Int
}
