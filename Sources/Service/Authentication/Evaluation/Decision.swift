// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which of the ways of one evaluation was the first: it alone becomes the result, and it alone is written down.
///
/// It is taken inside the transaction that writes the success down. Transactions come one after the other, so between
/// two ways that succeed at the same moment there is always a first one, and the second one finds it on the disk.
package final class Decision: Sendable {
    private let first = Mutex<Evaluation.Method?>(nil)

    /// Nobody was first yet.
    package init() {}

    /// Whether this way is the first.
    package func take(_ method: Evaluation.Method) -> Bool {
        first.withLock { first in
            guard first == nil else { return false }
            first = method
            return true
        }
    }

    /// The way that took it has not been written down after all.
    package func giveBack(_ method: Evaluation.Method) {
        first.withLock { if $0 == method { $0 = nil } }
    }
}
