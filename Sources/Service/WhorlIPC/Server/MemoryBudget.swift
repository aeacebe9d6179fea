// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The memory that all connections of one user hold together, so that many of them hold no more than one may.
final class MemoryBudget: Sendable {
    private let most: Int
    private let held = Mutex(0)

    /// Allows `most` bytes.
    init(most: Int) { self.most = most }

    /// The number of bytes that are held now.
    var bytesHeld: Int { held.withLock(\.self) }

    /// Counts bytes that came or went.
    ///
    /// - Returns: `false` when more are held now than may be; they count all the same until they go.
    func change(by bytes: Int) -> Bool {
        held.withLock { held in
            held += bytes
            return bytes <= 0 || held <= most
        }
    }
}
