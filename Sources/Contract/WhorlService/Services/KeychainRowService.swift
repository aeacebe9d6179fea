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
    ) throws(ServiceError) -> [KeychainRow]

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
    ) throws(ServiceError) -> KeychainOutcome

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
    ) throws(ServiceError) -> KeychainOutcome

    /// Deletes the rows that any of the filters selects.
    ///
    /// - Parameter matches: The filters.
    /// - Returns: The number of deleted rows.
    /// - Throws: the reason why the state cannot be used.
    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int
}

/// Rows of the keychain that can be read in parts, so that a search for many values holds few of them at once.
package protocol KeychainPages: KeychainRowService {
    /// Returns the numbers of the selected rows, in the order in which ``KeychainRowService/rows(_:withValues:limit:)``
    /// returns them.
    ///
    /// - Throws: the reason why the state cannot be used.
    func numbers(_ match: KeychainMatch, limit: Int) throws(ServiceError) -> [Int64]

    /// Returns rows by their numbers; those that the filter no longer selects are left out.
    ///
    /// - Parameters:
    ///   - match: The filter.
    ///   - numbers: The numbers, in the order that is wanted.
    ///   - withValues: Whether to decrypt the values that the service encrypts.
    ///   - mostBytes: The size of the values at which the page ends; the last one may exceed it.
    /// - Returns: The first of the rows.
    /// - Throws: the reason why the state cannot be used.
    func page(
        _ match: KeychainMatch,
        of numbers: ArraySlice<Int64>,
        withValues: Bool,
        mostBytes: Int
    ) throws(ServiceError) -> KeychainPage
}

/// A part of the rows that a search has found.
package struct KeychainPage: Sendable {
    /// The rows.
    package var rows: [KeychainRow] = []
    /// The number of rows that were looked at, which includes those that are gone.
    package var count = 0
    /// The size of the values in bytes.
    private var bytes = 0
    /// The size of the records in bytes.
    private var described = 0
    /// The size of the records at which a page is full: with one more, they fit into a message (``KeychainRecord/mostBytes``).
    private static let mostDescribed = 32 << 10

    package init() {}

    /// Looks at a row; `nil` is one that is gone.
    package mutating func add(_ row: KeychainRow?) {
        count += 1
        guard let row else { return }
        rows.append(row)
        described += row.record.size
        switch row.contents {
        case .value(let value): bytes += value.count
        case .sealed(let item): bytes += item.encoded.count
        case .encrypted, .damaged: break
        }
    }

    /// Whether the values of the page have a size, or its records are as many as a message takes.
    package func holds(_ mostBytes: Int) -> Bool {
        bytes >= mostBytes || described >= Self.mostDescribed
    }
}
