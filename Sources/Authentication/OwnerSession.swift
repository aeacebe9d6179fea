// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Vault

/// What the owner has shown to one caller, such as one context, kept between its requests.
///
/// What is kept never leaves the service: a caller holds the session and cannot look into it. It ends with the caller,
/// or when it is told to ``forget()``.
public final class OwnerSession: Sendable {
    private let shown = Mutex<OwnerProof?>(nil)

    /// A session in which nothing was shown.
    public init() {}

    /// Forgets what was shown; the next request asks again.
    public func forget() { shown.withLock { $0 = nil } }

    /// What was shown so far; `nil` when nothing was.
    var proof: OwnerProof? { shown.withLock(\.self) }

    /// Adds what was shown now; what another profile has shown before does not count any more.
    func add(_ proof: OwnerProof) {
        shown.withLock { shown in shown = shown.flatMap { $0.and(proof) } ?? proof }
    }
}
