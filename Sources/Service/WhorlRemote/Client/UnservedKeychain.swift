// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The keychain of a service that keeps no rows of one: each call is an error that says so, and never an empty answer.
struct UnservedKeychain: KeychainRowService {
    let application: ApplicationID

    var groups: [String] { [application.rawValue] }

    func rows(_ match: KeychainMatch, withValues: Bool, limit: Int) throws(StateError) -> [KeychainRow] {
        throw Self.refusal
    }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome { throw Self.refusal }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome { throw Self.refusal }

    func delete(_ matches: [KeychainMatch]) throws(StateError) -> Int { throw Self.refusal }

    private static var refusal: StateError {
        StateError(
            .failed,
            path: "whorld",
            message: "The service whorld keeps no keychain.",
            recovery: "Use the keychain of this process: WHORL_SERVICE=in-process."
        )
    }
}
