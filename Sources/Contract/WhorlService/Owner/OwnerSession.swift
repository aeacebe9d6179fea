// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A session that keeps the owner's proof for one caller, such as one context, between requests.
///
/// The proof belongs to the service and never leaves it: a caller has the session but cannot read the proof. The proof
/// is valid only for the purpose that the prompt showed (``TouchPurpose``), for the program that requested it, and
/// within the limits of the purpose. It is discarded when the caller goes away, or by ``forget()``.
///
/// The service checks the proof again before each use: a finger is valid while its print is enrolled, a passcode while
/// it is the current one.
public final class OwnerSession: Sendable {
    /// The state of the session before the owner is prompted.
    package struct Visit: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var content: (any Sendable)?
        /// The number of calls to ``forget()``.
        var number = 0
    }

    private let state = Mutex(State())

    /// Creates an empty session.
    public init() {}

    /// Discards the proof, so that the next request prompts again.
    ///
    /// The proof from a request that is already in progress is not kept either.
    public func forget() {
        state.withLock { state in
            state.content = nil
            state.number &+= 1
        }
    }

    /// Returns the content that a service stored in this session; `nil` if it is empty or belongs to another service.
    package func content<Content: Sendable>(as _: Content.Type) -> Content? {
        state.withLock { $0.content as? Content }
    }

    /// Changes or removes the content atomically.
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

    /// Marks the beginning of a request that may add a proof.
    package func visit() -> Visit { Visit(number: state.withLock(\.number)) }

    /// Changes the content, unless the session has been reset by ``forget()`` since the visit.
    ///
    /// - Parameters:
    ///   - visit: The result of ``visit()`` at the beginning of the request.
    ///   - merge: Returns the new content; its argument is the current one.
    package func add<Content: Sendable>(since visit: Visit, _ merge: (Content?) -> Content) {
        state.withLock { state in
            guard state.number == visit.number else { return }
            state.content = merge(state.content as? Content)
        }
    }
}
