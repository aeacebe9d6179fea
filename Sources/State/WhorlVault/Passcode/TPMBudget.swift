// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import WhorlService

/// A limit on the number of wrong values that one profile may submit to the TPM.
///
/// The TPM counts the wrong passcodes and application passwords of all users together, and when its limit has been
/// reached, it no longer compares any user's values. A correct value does not lower that count, and therefore does not
/// restore the budget. Otherwise a program could continue forever by submitting a correct value in between.
struct TPMBudget: Sendable {
    /// The budget for the profile's passcode.
    static let passcodes = TPMBudget(name: "passcodes", free: 10, forgotten: 7_200_000)
    /// The budget for the application passwords of all of the profile's items together.
    static let applicationPasswords = TPMBudget(name: "application passwords", free: 5, forgotten: 3_600_000)

    private let name: String
    /// The number of wrong values that are allowed without a delay.
    let free: Int
    /// The time after which one wrong value is forgotten, in milliseconds.
    let forgotten: Int64

    /// Returns the name of a profile's row among the passcode attempts.
    ///
    /// No user can have such a name.
    func row(of profile: String) -> String { "\(name): \(profile)" }
}

extension PasscodeTries {
    /// Returns the number of wrong values that have not been forgotten yet.
    private func remembered(by budget: TPMBudget, at now: Moment) -> Int {
        let passed = last.map(now.certainlyAfter) ?? 0
        return max(0, failures - Int(clamping: passed / budget.forgotten))
    }

    /// Returns the number of further wrong values that are allowed without a delay.
    func left(in budget: TPMBudget, at now: Moment) -> Int {
        max(0, budget.free - remembered(by: budget, at: now))
    }

    /// Counts the next value before the TPM compares it, or returns the time to wait until it is allowed.
    mutating func reserve(in budget: TPMBudget, at now: Moment) -> Duration? {
        let remembered = remembered(by: budget, at: now)
        guard remembered < budget.free else {
            let passed = last.map(now.certainlyAfter) ?? 0
            let periods = Int64(failures - budget.free + 1)
            let (wait, isTooLong) = periods.multipliedReportingOverflow(by: budget.forgotten)
            return .milliseconds(isTooLong ? .max : max(1, wait - passed))
        }
        self = PasscodeTries(failures: remembered + 1, last: now)
        return nil
    }
}

extension Vault {
    /// Counts an application password on disk before it is derived and tried.
    ///
    /// - Throws: `applicationPasswordThrottled`.
    func reserveApplicationPassword(for item: ItemOwner) async throws(ServiceError) {
        let now = time.now()
        let row = TPMBudget.applicationPasswords.row(of: item.profile)
        let wait: Duration? = try await database.write(.full) { db in
            var tries = try PasscodeTries.read(row, db)
            if let wait = tries.reserve(in: .applicationPasswords, at: now) { return wait }
            try tries.save(row, db)
            return nil
        }
        if let wait { throw ServiceError(.applicationPasswordThrottled, item.spoken, wait: wait) }
    }

    /// Undoes the counting of an application password that was correct or that the TPM did not compare.
    func releaseApplicationPassword(for item: ItemOwner) async throws(ServiceError) {
        try await settleTries(TPMBudget.applicationPasswords.row(of: item.profile)) { $0.release() }
    }
}
