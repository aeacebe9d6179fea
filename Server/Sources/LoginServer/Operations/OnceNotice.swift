// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An event that is reported only once.
final class OnceNotice: Sendable {
    private let isOver = Atomic(false)

    /// Returns whether this is the first time.
    func isFirst() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}
