// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint
internal import Synchronization
internal import Vault

/// A session that keeps what the owner has shown to one caller, such as one context, between its requests.
///
/// The content never leaves the service: a caller holds the session and cannot read it. It ends with the caller, or
/// with ``forget()``. Before each use, the service checks again whether the content still counts: a finger does while
/// its print is enrolled, the passcode while it is the one that is set.
public final class OwnerSession: Sendable {
    /// The proofs that one profile's owner has shown.
    struct Shown: Sendable {
        let profile: String
        /// The print that matched a touch; a match from the reuse window does not count.
        var print: PrintID?
        /// The proof of the passcode, as the chip takes it.
        var passcode: OwnerProof?
    }

    /// The state of the session before the owner is asked.
    struct Visit: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var shown: Shown?
        /// The number of times that the session was forgotten.
        var number = 0
    }

    private let state = Mutex(State())

    /// Makes an empty session.
    public init() {}

    /// Forgets what was shown; the next request asks again.
    ///
    /// A proof that is being shown to a request that began before is not kept either.
    public func forget() {
        state.withLock { state in
            state.shown = nil
            state.number &+= 1
        }
    }

    /// The proofs that were shown so far; `nil` when none was.
    var shown: Shown? { state.withLock(\.shown) }

    /// Begins a request in which something may be shown.
    func visit() -> Visit { Visit(number: state.withLock(\.number)) }

    /// Adds what was shown now, unless the session was forgotten since the visit; proofs of another profile are
    /// dropped.
    func add(_ now: Shown, since visit: Visit) {
        state.withLock { state in
            guard state.number == visit.number else { return }
            guard let before = state.shown, before.profile == now.profile else {
                state.shown = now
                return
            }
            // The latest proof is the most likely one to count still.
            state.shown = Shown(
                profile: now.profile,
                print: now.print ?? before.print,
                passcode: now.passcode ?? before.passcode
            )
        }
    }
}
