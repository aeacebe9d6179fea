// SPDX-License-Identifier: Apache-2.0

internal import KeychainRows
package import WhorlService

/// The keychain's rows of every program of a profile.
package struct StoredKeychain: Sendable {
    /// The rows, in the access groups of all programs.
    package let rows: any KeychainRowService
    /// The number of rows, whether or not they can be read.
    package let count: Int
}

extension InProcessRoot {
    /// Returns the keychain's rows of every program, as they lie in the directory; nothing is made if nothing was ever
    /// stored.
    package func keychainOfAllPrograms() throws(StateError) -> StoredKeychain {
        let state = state
        let open: KeychainRows.Opening = { creating async throws(StateError) in
            creating ? try await state.created() : try await state.existing()
        }
        let (groups, count) = try KeychainRows(of: profile, in: [], open: open).stored()
        return StoredKeychain(rows: KeychainRows(of: profile, in: groups, open: open), count: count)
    }
}
