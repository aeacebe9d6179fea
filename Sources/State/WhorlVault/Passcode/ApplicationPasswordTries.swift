// SPDX-License-Identifier: Apache-2.0

import StateStore
import WhorlService

/// The count of the wrong application passwords of one profile, whatever items they were for.
///
/// The chip counts them with the wrong passcodes of all users, and refuses all of them together. So a profile has five, and
/// one more for each hour. A right one of another item gives none back: its program could try on with that.
enum ApplicationPasswordTries {
    /// The number of wrong ones without a wait.
    static let free = 5
    /// The time after which one of them is forgotten, in milliseconds.
    static let forgotten: Int64 = 3_600_000

    /// The name of a profile's row among the tries of passcodes; no user has such a name.
    static func row(of profile: String) -> String { "application passwords: \(profile)" }
}

extension PasscodeTries {
    /// Counts the next application password before it is tried, or returns the time to wait for it.
    mutating func reserveApplicationPassword(at now: Moment) -> Duration? {
        let passed = last.map(now.certainlyAfter) ?? 0
        let left = max(0, failures - Int(passed / ApplicationPasswordTries.forgotten))
        guard left < ApplicationPasswordTries.free else {
            let hours = Int64(failures - ApplicationPasswordTries.free + 1)
            return .milliseconds(max(1, hours * ApplicationPasswordTries.forgotten - passed))
        }
        self = PasscodeTries(failures: left + 1, last: now)
        return nil
    }
}

extension Vault {
    /// Counts an application password on disk before it is derived and tried.
    ///
    /// - Throws: `applicationPasswordThrottled`.
    func reserveApplicationPassword(for item: ItemOwner) async throws(VaultError) {
        let now = time.now()
        let row = ApplicationPasswordTries.row(of: item.profile)
        let wait: Duration? = try await write { db in
            var tries = try PasscodeTries.read(row, db)
            if let wait = tries.reserveApplicationPassword(at: now) { return wait }
            try tries.save(row, db)
            return nil
        }
        if let wait { throw VaultError(.applicationPasswordThrottled(for: wait), item.spoken) }
    }

    /// Takes back the count of an application password that was right, or that the chip did not compare.
    func releaseApplicationPassword(for item: ItemOwner) async throws(VaultError) {
        try await settleTries(ApplicationPasswordTries.row(of: item.profile)) { $0.release() }
    }
}
