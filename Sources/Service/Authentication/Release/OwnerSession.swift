// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint
internal import Synchronization
internal import Vault

/// What the owner has shown to one caller, such as one context, kept between its requests.
///
/// What is kept never leaves the service: a caller holds the session and cannot look into it. It ends with the caller,
/// or when it is told to ``forget()``. Before each use it is asked anew whether it still counts: a finger does while its
/// print is enrolled, the passcode while it is the one that is set.
public final class OwnerSession: Sendable {
    /// What one profile's owner has shown.
    struct Shown: Sendable {
        let profile: String
        /// The print that matched a touch; a match that was taken from the reuse window is none.
        var print: PrintID?
        /// The passcode as the chip takes it.
        var passcode: OwnerProof?
    }

    /// A look at the session, taken before the owner is asked.
    struct Visit: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var shown: Shown?
        /// How often it was forgotten.
        var number = 0
    }

    private let state = Mutex(State())

    /// A session in which nothing was shown.
    public init() {}

    /// Forgets what was shown; the next request asks again.
    ///
    /// What is being shown at this moment, to a request that began before, is not kept either.
    public func forget() {
        state.withLock { state in
            state.shown = nil
            state.number &+= 1
        }
    }

    /// What was shown so far; `nil` when nothing was.
    var shown: Shown? { state.withLock(\.shown) }

    /// Begins a request in which something may be shown.
    func visit() -> Visit { Visit(number: state.withLock(\.number)) }

    /// Adds what was shown now, unless all was forgotten since the visit; what another profile has shown before does not
    /// count any more.
    func add(_ now: Shown, since visit: Visit) {
        state.withLock { state in
            guard state.number == visit.number else { return }
            guard let before = state.shown, before.profile == now.profile else {
                state.shown = now
                return
            }
            // What was shown last is what is most likely to count still.
            state.shown = Shown(
                profile: now.profile,
                print: now.print ?? before.print,
                passcode: now.passcode ?? before.passcode
            )
        }
    }
}
