// SPDX-License-Identifier: Apache-2.0

/// Rows of the keychain that can be read in parts, so that a search for many values holds few of them at once.
package protocol KeychainPages: KeychainRowService {
    /// Returns the numbers of the selected rows, in the order in which ``KeychainRowService/rows(_:withValues:limit:)``
    /// returns them.
    ///
    /// - Throws: the reason why the state cannot be used.
    func numbers(_ match: KeychainMatch, limit: Int) throws(StateError) -> [Int64]

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
    ) throws(StateError) -> KeychainPage
}

/// A part of the rows that a search has found.
package struct KeychainPage: Sendable {
    /// The rows.
    package var rows: [KeychainRow] = []
    /// The number of rows that were looked at, which includes those that are gone.
    package var count = 0
    /// The size of the values in bytes.
    private var bytes = 0

    package init() {}

    /// Looks at a row; `nil` is one that is gone.
    package mutating func add(_ row: KeychainRow?) {
        count += 1
        guard let row else { return }
        rows.append(row)
        switch row.contents {
        case .value(let value): bytes += value.count
        case .sealed(let item): bytes += item.encoded.count
        case .encrypted, .damaged: break
        }
    }

    /// Whether the values of the page have a size.
    package func holds(_ mostBytes: Int) -> Bool { bytes >= mostBytes }
}
