// SPDX-License-Identifier: Apache-2.0

/// The keyrings for which the user has just dismissed a prompt.
///
/// Some programs ask again and again. For a while, they are answered without a prompt.
struct Pauses {
    /// The maximum number of keyrings.
    private static let limit = 64

    private let length: Duration
    private var ends: [String: ContinuousClock.Instant] = [:]

    init(of length: Duration) { self.length = length }

    /// Returns whether there is a pause for a keyring.
    func contains(_ keyring: String, now: ContinuousClock.Instant = .now) -> Bool {
        ends[keyring].map { now < $0 } ?? false
    }

    /// Begins a pause for a keyring.
    mutating func begin(for keyring: String, now: ContinuousClock.Instant = .now) {
        ends = ends.filter { now < $0.value }
        if ends.count < Self.limit { ends[keyring] = now + length }
    }

    mutating func endAll() { ends = [:] }
}
