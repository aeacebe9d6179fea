// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite
import WhorlSecretMemory
package import WhorlStateStore
package import WhorlService
import WhorlTPM

/// The number of passcode attempts for one profile and the rules for changing it.
///
/// Five wrong attempts in a row are allowed without a delay. Each further attempt requires an increasingly long delay.
/// An attacker who guesses therefore reaches the TPM's own limit, which disk encryption shares, slowly or not at all.
/// This is a plain value type.
package struct PasscodeTries: Sendable, Hashable {
    /// The number of consecutive wrong attempts that are allowed without a delay.
    static let free = 5
    /// The delays before the sixth attempt, the seventh attempt, and so on, in milliseconds.
    ///
    /// They are 1, 5 and 15 minutes, and 1, 3 and 8 hours. The last one is repeated.
    static let waits: [Int64] = [60, 300, 900, 3600, 10800, 28800].map { $0 * 1000 }

    /// The number of attempts since the last correct one, including those without a result.
    package private(set) var failures: Int
    /// The time of the most recent of these attempts.
    package private(set) var last: Moment?

    package init(failures: Int = 0, last: Moment? = nil) {
        // An invalid number of attempts counts as the highest.
        self.failures = failures < 0 ? PasscodeTries.free + PasscodeTries.waits.count : min(failures, 1 << 40)
        self.last = last
    }

    /// Returns the time to wait until the next attempt, or `nil` if there is no need to wait.
    package func wait(at now: Moment) -> Duration? {
        guard failures >= PasscodeTries.free else { return nil }
        let length = PasscodeTries.waits[min(failures - PasscodeTries.free, PasscodeTries.waits.count - 1)]
        // Without the time of the last attempt, no time has certainly passed.
        let left = length - (last.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .milliseconds(left) : nil
    }

    /// The number of further wrong attempts that are allowed without a delay.
    package var left: Int { max(0, PasscodeTries.free - failures) }

    /// Counts the next attempt before it is made, or returns the time to wait until it is allowed.
    package mutating func reserve(at now: Moment) -> Duration? {
        if let wait = wait(at: now) { return wait }
        failures += 1
        last = now
        return nil
    }

    /// Undoes the counting of an attempt that was not made because the TPM did not compare anything.
    mutating func release() { failures = max(0, failures - 1) }
}

extension PasscodeTries {
    /// Reads a profile's attempts.
    ///
    /// A row that cannot be read results in the longest delay.
    static func read(_ profile: String, _ db: Database) throws -> PasscodeTries {
        let tries = try db.first(sql: "SELECT * FROM vault_tries WHERE profile = ?", arguments: [profile]) {
            row in
            guard let failures: Int = row["failures"], let boot: Int64 = row["last_boot"],
                let wall: Int64 = row["last_wall"], let bootID: String = row["boot_id"]
            else { return PasscodeTries(failures: -1) }
            return PasscodeTries(
                failures: failures,
                last: Moment(bootID: bootID, sinceBoot: boot, wall: wall)
            )
        }
        return tries ?? PasscodeTries()
    }

    func save(_ profile: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO vault_tries VALUES (?, ?, ?, ?, ?)",
            arguments: [profile, failures, last?.sinceBoot ?? 0, last?.wall ?? 0, last?.bootID ?? ""]
        )
    }
}

/// Functions for a passcode attempt, from counting it to the TPM's result.
extension Vault {
    /// Returns the passcode's row and the authorization value that the TPM has verified.
    func verified(
        _ passcode: SecretBox,
        of profile: String
    ) async throws(ServiceError) -> (PasscodeRow, SecretBox) {
        guard let row = try await self.passcode(of: profile) else {
            throw ServiceError(.passcodeNotSet, profile)
        }
        guard let authority = try authority() else {
            throw ServiceError(.chipCleared, profile, cause: "the authority's file is missing")
        }
        // Check the delay first, so that a refused attempt does not also take the time of scrypt.
        try await refuseThrottled(profile)
        // A passcode of an impossible size is wrong, and counts as an attempt.
        guard PasscodeSize.allowed.contains(passcode.bytes.count) else {
            try await reserveTry(profile)
            try await releaseBudget(profile)
            throw ServiceError(.passcodeWrong, profile)
        }
        // Count the attempt when its turn comes, before its derivation. Of many that were sent at the same time, no
        // more are derived than are allowed.
        let authorization = try await inTurn { turn async throws(ServiceError) in
            try await reserveTry(profile)
            return try await row.derivation.authorization(of: passcode, in: turn)
        }
        switch try await verdict(authorization, row, authority) {
        case .right:
            try await settleTries(profile) { $0 = PasscodeTries() }
            try await releaseBudget(profile)
            return (row, authorization)
        case .wrong: throw ServiceError(.passcodeWrong, profile)
        case .lockedOut:
            try await releaseTry(profile)
            throw ServiceError(.chipLockedOut, profile)
        }
    }

    /// Runs a derivation when it is this directory's turn.
    func inTurn<Value: Sendable>(
        _ body: (DerivationQueue.Turn) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        try await DerivationQueue.shared.inTurn(of: directory.path, body)
    }

    /// Returns the time until Whorl compares a passcode for a profile again, or `nil` if there is no need to wait.
    ///
    /// - Throws: A storage error.
    package func passcodeWait(of profile: String) async throws(ServiceError) -> Duration? {
        let now = time.now()
        return try await database.read { db in
            let wait = try PasscodeTries.read(profile, db).wait(at: now)
            var budget = try PasscodeTries.read(TPMBudget.passcodes.row(of: profile), db)
            let other = budget.reserve(in: .passcodes, at: now)
            return [wait, other].compactMap(\.self).max()
        }
    }

    /// Returns the number of further wrong passcodes that a profile may submit without a delay, in this and all other
    /// processes.
    ///
    /// - Throws: A storage error.
    package func passcodeTriesLeft(of profile: String) async throws(ServiceError) -> Int {
        let now = time.now()
        return try await database.read { db in
            let budget = try PasscodeTries.read(TPMBudget.passcodes.row(of: profile), db)
            return min(try PasscodeTries.read(profile, db).left, budget.left(in: .passcodes, at: now))
        }
    }

    private func verdict(
        _ authorization: SecretBox,
        _ row: PasscodeRow,
        _ authority: VaultAuthority
    ) async throws(ServiceError) -> AuthVerdict {
        do {
            return try await device.perform { commands throws(TPMError) in
                try commands.verify(authorization, of: row.object, under: authority.root)
            }
        } catch {
            switch error.code {
            case .noDevice, .permission, .deviceBusy, .cancelled, .foreignRoot, .foreignBlob:
                // The TPM was not reached, or does not know the object, so it compared nothing.
                try await releaseTry(row.profile)
            default: break
            }
            guard error.code != .foreignBlob else {
                throw ServiceError(.chipCleared, row.profile, cause: error.description)
            }
            throw ServiceError(error, row.profile)
        }
    }

    private func refuseThrottled(_ profile: String) async throws(ServiceError) {
        guard let wait = try await passcodeWait(of: profile) else { return }
        throw ServiceError(.passcodeThrottled, profile, wait: wait)
    }

    /// Counts an attempt on disk before it is made, in the same transaction as the check of the delays.
    private func reserveTry(_ profile: String) async throws(ServiceError) {
        let now = time.now()
        let wait: Duration? = try await database.write(.full) { db in
            var tries = try PasscodeTries.read(profile, db)
            if let wait = tries.reserve(at: now) { return wait }
            let row = TPMBudget.passcodes.row(of: profile)
            var budget = try PasscodeTries.read(row, db)
            if let wait = budget.reserve(in: .passcodes, at: now) { return wait }
            try tries.save(profile, db)
            try budget.save(row, db)
            return nil
        }
        if let wait { throw ServiceError(.passcodeThrottled, profile, wait: wait) }
    }

    /// Undoes the counting of an attempt that the TPM did not compare.
    private func releaseTry(_ profile: String) async throws(ServiceError) {
        try await settleTries(profile) { $0.release() }
        try await releaseBudget(profile)
    }

    /// Undoes the counting, in the budget, of a passcode that was correct or that the TPM did not compare.
    private func releaseBudget(_ profile: String) async throws(ServiceError) {
        try await settleTries(TPMBudget.passcodes.row(of: profile)) { $0.release() }
    }

    func settleTries(
        _ profile: String,
        _ change: @escaping @Sendable (inout PasscodeTries) -> Void
    ) async throws(ServiceError) {
        try await database.write(.full) { db in
            var tries = try PasscodeTries.read(profile, db)
            change(&tries)
            try tries.save(profile, db)
        }
    }
}
