// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlService

/// The programs that the user refused, and the times of each program's recent prompts.
///
/// A confined program is identified by its id. Any other is identified by the name of its process and its unit, which
/// it can change. Refusing spares the user a nuisance; it is not a protection.
final class Refusals: Sendable {
    private struct State {
        var refused: Set<String> = []
        var times: [String: [ContinuousClock.Instant]] = [:]
    }

    /// The maximum number of stored programs and times.
    private static let limit = 256
    private let state = Mutex(State())

    /// Counts a prompt of a program.
    ///
    /// - Returns: The number of its prompts in the last minute, including this one; `nil` if the user refused the
    ///   program.
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

    /// Whether any program is refused.
    var hasAny: Bool { state.withLock { !$0.refused.isEmpty } }

    /// Refuses further prompts of a program until this process ends.
    func refuse(_ program: String) {
        state.withLock { state in
            if state.refused.count < Self.limit { state.refused.insert(program) }
        }
    }
}

extension Prompt {
    /// The identification of the requesting program.
    var program: String {
        guard let asker else { return "name " + title }
        if let id = asker.confinedAs { return "id \(asker.user) \(id)" }
        return "process \(asker.user) \(asker.unit ?? "") \(asker.process ?? "")"
    }
}
