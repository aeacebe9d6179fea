// SPDX-License-Identifier: Apache-2.0

/// The keychain rows of one profile in the access groups of one program.
///
/// The service stores rows and does not prompt the owner: callers seal the values that an access control protects, and
/// only the TPM unlocks them. Each call is one transaction and may be made from any thread. Like Apple's keychain
/// functions, it blocks the calling thread until the transaction ends; a change is then on the disk.
public protocol KeychainRowService: Sendable {
    /// The access groups that the program may use; the first one is the program's own group.
    var groups: [String] { get }

    /// Returns the selected rows, without creating any state.
    ///
    /// Rows that Whorl did not write, or that were tampered with, are excluded.
    ///
    /// - Parameters:
    ///   - match: The filter.
    ///   - withValues: Whether to decrypt the values that the service encrypts.
    ///   - limit: The maximum number of rows.
    /// - Returns: The rows, oldest first without a limit; with a limit, those of the filter's first group come first.
    /// - Throws: The reason why the state cannot be used.
    func rows(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int
    ) throws(ServiceError) -> [KeychainRow]

    /// Stores the items; if one of them cannot be stored, nothing is changed.
    ///
    /// If a record has no creation or modification date, it is set to the current time. A row that was tampered with
    /// does not reserve its name, and is deleted.
    ///
    /// - Parameters:
    ///   - new: The items.
    ///   - replacing: Rows to delete first, if they are still at this version.
    /// - Returns: The outcome; never `stale`.
    /// - Throws: The reason why the state cannot be used.
    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome

    /// Replaces the records and values of the rows; if one of them cannot be replaced, nothing is changed.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - replacing: Other rows to delete first, if they are still at this version.
    /// - Returns: The outcome; `stale` if one of the rows was changed or deleted since it was read.
    /// - Throws: The reason why the state cannot be used.
    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome

    /// Deletes the rows that any of the filters selects.
    ///
    /// - Parameter matches: The filters.
    /// - Returns: The number of deleted rows.
    /// - Throws: The reason why the state cannot be used.
    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int
}

/// Keychain rows that can be read in pages, so that a search for many values has only a few of them in memory at a
/// time.
package protocol KeychainPages: KeychainRowService {
    /// Returns the numbers of the selected rows, in the order of ``KeychainRowService/rows(_:withValues:limit:)``.
    ///
    /// - Throws: The reason why the state cannot be used.
    func numbers(_ match: KeychainMatch, limit: Int) throws(ServiceError) -> [Int64]

    /// Returns rows by number, except those that the filter no longer selects.
    ///
    /// - Parameters:
    ///   - match: The filter.
    ///   - numbers: The numbers, in the order of the result.
    ///   - withValues: Whether to decrypt the values that the service encrypts.
    ///   - mostBytes: The total size of values at which the page ends; the last value may exceed it.
    /// - Returns: The first page of the rows.
    /// - Throws: The reason why the state cannot be used.
    func page(
        _ match: KeychainMatch,
        of numbers: ArraySlice<Int64>,
        withValues: Bool,
        mostBytes: Int
    ) throws(ServiceError) -> KeychainPage
}

/// A page of the rows that a search has found.
package struct KeychainPage: Sendable {
    /// The rows.
    package var rows: [KeychainRow] = []
    /// The number of rows that were examined, including rows that no longer exist.
    package var count = 0
    /// The size of the values in bytes.
    private var bytes = 0
    /// The size of the records in bytes.
    private var described = 0
    /// The size of the records at which a page is full.
    ///
    /// Together with one more record, they still fit into a message (``KeychainRecord/mostBytes``).
    private static let mostDescribed = 32 << 10

    package init() {}

    /// Adds a row to the page; `nil` stands for a row that no longer exists.
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

    /// Returns whether the values of the page have reached the given size, or its records the maximum size for a
    /// message.
    package func holds(_ mostBytes: Int) -> Bool {
        bytes >= mostBytes || described >= Self.mostDescribed
    }
}
