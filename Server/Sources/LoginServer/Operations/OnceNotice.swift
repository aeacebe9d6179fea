// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Something that is said once.
final class OnceNotice: Sendable {
    private let isOver = Atomic(false)

    /// Whether this is the first time.
    func isFirst() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}
