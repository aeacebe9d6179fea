// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A session that keeps what the owner has shown to one caller, such as one context, between its requests.
///
/// The content belongs to the service, and never leaves it: a caller holds the session and cannot read it. It counts for
/// the purpose that the prompt named (``TouchPurpose``), for the program that asked, and within the limits of the
/// purpose. It ends with the caller, or with ``forget()``. Before each use, the service checks again whether the content
/// still counts: a finger does while its print is enrolled, the passcode while it is the one that is set.
public final class OwnerSession: Sendable {
    /// The state of the session before the owner is asked.
    package struct Visit: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var content: (any Sendable)?
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
            state.content = nil
            state.number &+= 1
        }
    }

    /// The content of the service that keeps something here; `nil` while there is none, or it is another service's.
    package func content<Content: Sendable>(as _: Content.Type) -> Content? {
        state.withLock { $0.content as? Content }
    }

    /// Changes the content, or takes it away, before anyone else sees it.
    package func update<Content: Sendable, Value>(
        as _: Content.Type,
        _ body: (inout Content?) -> Value
    ) -> Value {
        state.withLock { state in
            var content = state.content as? Content
            defer { state.content = content }
            return body(&content)
        }
    }

    /// Begins a request in which something may be shown.
    package func visit() -> Visit { Visit(number: state.withLock(\.number)) }

    /// Changes the content, unless the session was forgotten since the visit.
    ///
    /// - Parameters:
    ///   - visit: The visit that ``visit()`` began.
    ///   - merge: Returns the new content; its argument is the present one.
    package func add<Content: Sendable>(since visit: Visit, _ merge: (Content?) -> Content) {
        state.withLock { state in
            guard state.number == visit.number else { return }
            state.content = merge(state.content as? Content)
        }
    }
}
