// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The small named documents of a store, which all instances share.
protocol Documents: Sendable {
    func document(_ name: String) async throws -> Data?
    /// - Returns: `false`, and nothing has changed, where the document is not what it was.
    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool
}
