// SPDX-License-Identifier: Apache-2.0

import Enrollment
import StateStore
import WhorlSystem

extension Session {
    /// The store; `nil` when nothing was ever stored.
    func existingStore() async throws(Failure) -> EnrollmentStore? {
        try await failing { () async throws(StateError) in try await services.existingStore() }
    }

    /// The store, made now when there is none.
    func store() async throws(Failure) -> EnrollmentStore {
        try await failing { () async throws(StateError) in try await services.store() }
    }
}
