// SPDX-License-Identifier: Apache-2.0

package import CGLib

/// The reply to one asynchronous C call, the `user_data` of its `GAsyncReadyCallback`.
///
/// It is retained once when it is passed to C, and released once when C calls back; GLib calls back exactly once.
package final class Reply<Value: Sendable, Failure: Error> {
    package typealias Finish = (_ result: OpaquePointer) -> Result<Value, Failure>

    private let continuation: CheckedContinuation<Result<Value, Failure>, Never>
    private let finish: Finish

    fileprivate init(
        _ continuation: CheckedContinuation<Result<Value, Failure>, Never>,
        _ finish: @escaping Finish
    ) {
        self.continuation = continuation
        self.finish = finish
    }

    /// The pointer to pass as `user_data`, exactly once, with ``readyCallback``.
    package var userData: UnsafeMutableRawPointer {
        let box = ReplyBox { [continuation, finish] result in continuation.resume(returning: finish(result)) }
        return Unmanaged.passRetained(box).toOpaque()
    }
}

/// The part of a reply that C carries, without generic types.
private final class ReplyBox {
    let complete: (OpaquePointer) -> Void
    init(complete: @escaping (OpaquePointer) -> Void) { self.complete = complete }
}

/// The callback of every call made with ``Actor/bridge(_:finish:start:)``.
package let readyCallback: GAsyncReadyCallback = { _, result, userData in
    guard let userData, let result else {
        preconditionFailure("GLib called back without result or user data")
    }
    Unmanaged<ReplyBox>.fromOpaque(userData).takeRetainedValue().complete(result)
}

extension Actor {
    /// Makes one asynchronous C call and waits for its end; the only place where a C call becomes `async`.
    ///
    /// Cancelling the task triggers `cancellable`; the call then ends in its own way, and this function waits for that
    /// end, so that no C operation is ever left behind. The actor must live on ``GLibExecutor``.
    ///
    /// - Parameters:
    ///   - cancellable: A cancellable that was made before the call, so that an early cancellation is not lost.
    ///   - finish: Turns the `GAsyncResult` into a value, with the call's `…_finish()`.
    ///   - start: Starts the C call with ``readyCallback`` and the reply's user data.
    /// - Returns: The value that `finish` made of the result.
    /// - Throws: The error that `finish` made of the result.
    package func bridge<Value: Sendable, Failure: Error>(
        _ cancellable: borrowing Cancellable,
        finish: @escaping Reply<Value, Failure>.Finish,
        start: (Reply<Value, Failure>) -> Void
    ) async throws(Failure) -> Value {
        let cancel = cancellable.trigger
        GLibExecutor.shared.beginCall()
        defer { GLibExecutor.shared.endCall() }
        return try await withTaskCancellationHandler {
            // It also keeps this closure on the actor: without it the closure silently leaves the actor (Swift 6.3.1),
            // the C call starts on a foreign thread, and never completes.
            preconditionIsolated()
            GLibExecutor.shared.checkIsolated()
            return await withCheckedContinuation { start(Reply($0, finish)) }
        } onCancel: {
            cancel()
        }.get()
    }
}
