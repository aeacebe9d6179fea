// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import WhorlService

/// The decision which method of one evaluation succeeded first: only that method becomes the result and is recorded.
///
/// It is taken inside the transaction that records the success. Transactions run one after the other, so of two methods
/// that succeed at the same moment one is always the first, and the second finds that record on the disk.
package final class Decision: Sendable {
    private let first = Mutex<Evaluation.Method?>(nil)

    /// Makes a decision that is still open.
    package init() {}

    /// Takes the decision for a method, and returns whether that method is the first.
    package func take(_ method: Evaluation.Method) -> Bool {
        first.withLock { first in
            guard first == nil else { return false }
            first = method
            return true
        }
    }

    /// Reopens the decision, since the success of the method that took it could not be recorded.
    package func giveBack(_ method: Evaluation.Method) {
        first.withLock { if $0 == method { $0 = nil } }
    }
}
