// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import Logging
import StateStore
import Synchronization
import WhorlService

/// The part of a match that is written after its answer: the time of the print's last match, which puts it first in the
/// next gallery, and the better template that some readers make.
///
/// No decision depends on it. The next evaluation of the profile waits for it, so that it sees the new order.
final class KeptMatch: Sendable {
    private let match = Mutex<(success: ScanLoop.Success, store: EnrollmentStore)?>(nil)

    /// Keeps a match for later.
    func take(_ success: ScanLoop.Success, for store: EnrollmentStore) {
        match.withLock { $0 = (success, store) }
    }

    /// Writes the match that was kept, if one was.
    func write(at time: MachineTime) async {
        guard let (success, store) = match.withLock({ $0 }) else { return }
        do throws(EnrollmentError) {
            try await store.recordMatch(success.match.print, updated: success.updated, at: time.now().date)
        } catch {
            log.debug("the last match of a print was not kept (\(error)), ignoring")
        }
    }
}
