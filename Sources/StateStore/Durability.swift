// SPDX-License-Identifier: Apache-2.0

/// What a write survives once it has returned.
package enum Durability: Sendable {
    /// A power cut: the write-ahead log is synced before the write returns (`PRAGMA synchronous = FULL`).
    case full
    /// The process being killed, not a power cut (`PRAGMA synchronous = NORMAL`). The database stays consistent
    /// either way; the last such writes may be lost.
    case relaxed
}
