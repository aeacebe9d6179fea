// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty

/// Whether the store takes changes, which is tried at most once in a second: any client can ask.
actor Readiness {
    private static let age = Duration.seconds(1)
    /// A count that no limit ends.
    private static let bucket = RateBucket(key: "readiness", count: .max, seconds: 1)

    private var last: (at: ContinuousClock.Instant, error: RelyingPartyError?)?
    private var trial: Task<RelyingPartyError?, Never>?

    /// - Throws: the store's error.
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
