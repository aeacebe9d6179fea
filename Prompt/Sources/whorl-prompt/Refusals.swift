// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlService

/// The programs whose prompts the person wants no longer, and how often each one asked lately.
///
/// A confined program is known by its id; any other by the name of its process and its unit, which it may change: a refusal
/// spares the person a nuisance, and is not a protection.
final class Refusals: Sendable {
    private struct State {
        var refused: Set<String> = []
        var times: [String: [ContinuousClock.Instant]] = [:]
    }

    /// The largest number of programs and of times that are kept.
    private static let limit = 256
    private let state = Mutex(State())

    /// Counts a prompt of a program.
    ///
    /// - Returns: The number of its prompts in the last minute with this one; `nil` if the person refused the program.
    func admit(_ program: String, now: ContinuousClock.Instant = .now) -> Int? {
        state.withLock { state in
            guard !state.refused.contains(program) else { return nil }
            state.times = state.times.filter { now - ($0.value.last ?? now) < .seconds(60) }
            if state.times.count >= Self.limit { state.times.removeAll() }
            let recent = (state.times[program] ?? []).filter { now - $0 < .seconds(60) } + [now]
            state.times[program] = recent.suffix(Self.limit)
            return recent.count
        }
    }

    /// Whether a program is refused.
    var hasAny: Bool { state.withLock { !$0.refused.isEmpty } }

    /// Refuses the further prompts of a program, until this process ends.
    func refuse(_ program: String) {
        state.withLock { state in
            if state.refused.count < Self.limit { state.refused.insert(program) }
        }
    }
}

extension Prompt {
    /// The words by which the program is known that asks.
    var program: String {
        guard let asker else { return "name " + title }
        if let id = asker.confinedAs { return "id \(asker.user) \(id)" }
        return "process \(asker.user) \(asker.unit ?? "") \(asker.process ?? "")"
    }
}
