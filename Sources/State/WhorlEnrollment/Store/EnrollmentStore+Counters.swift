// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore
package import WhorlService

extension EnrollmentStore {
    /// Records that no counters outside of the database count the sets of fingers, before these counters are removed.
    ///
    /// A set that is not sound is left unchanged, so that it does not become sound.
    ///
    /// - Throws: `store`.
    package func forgetCounters() async throws(EnrollmentError) {
        let seal = templateSeal
        try await write { db in
            for profile in try String.fetchAll(db, sql: "SELECT name FROM profiles") {
                let manifest = try Manifest(db, profile: profile)
                guard manifest.isCounted(seal.keys), manifest.isAuthentic(seal) else { continue }
                try manifest.save(db, keys: seal.keys, at: Date(), isCounted: false)
            }
        }
    }
}
