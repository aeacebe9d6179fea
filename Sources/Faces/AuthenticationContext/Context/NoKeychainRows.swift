// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// The keychain of an environment without one: it has no rows, and stores none.
struct NoKeychainRows: KeychainRowService {
    let groups: [String]

    init(_ application: ApplicationID) { groups = [application.rawValue] }

    func rows(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int
    ) throws(StateError) -> [KeychainRow] { [] }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome {
        throw StateError(.failed, path: "", cause: "there is no state directory")
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome { .stale }

    func delete(_ matches: [KeychainMatch]) throws(StateError) -> Int { 0 }
}
