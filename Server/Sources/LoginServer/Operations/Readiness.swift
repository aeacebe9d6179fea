// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty

/// Checks whether the store accepts changes, at most once per second, because any client can ask.
actor Readiness {
    private static let age = Duration.seconds(1)
    /// A counter without a limit.
    private static let bucket = RateBucket(key: "readiness", count: .max, seconds: 1)

    private var last: (at: ContinuousClock.Instant, error: RelyingPartyError?)?
    private var trial: Task<RelyingPartyError?, Never>?

    /// Checks the store.
    ///
    /// - Throws: The store's error.
    func check(_ party: RelyingParty) async throws {
        if let error = await state(party) { throw error }
    }

    private func state(_ party: RelyingParty) async -> RelyingPartyError? {
        if let trial { return await trial.value }
        if let last, .now - last.at < Self.age { return last.error }
        let new = Task { () -> RelyingPartyError? in
            do throws(RelyingPartyError) {
                try await party.countTries([Self.bucket])
                return nil
            } catch {
                return error
            }
        }
        trial = new
        let error = await new.value
        last = (.now, error)
        trial = nil
        return error
    }
}
