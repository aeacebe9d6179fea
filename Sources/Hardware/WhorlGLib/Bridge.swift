// SPDX-License-Identifier: Apache-2.0

package import CWhorlGLib

/// The result of one asynchronous C call, passed as the `user_data` of its `GAsyncReadyCallback`.
///
/// It is retained when it is passed to C and released when C calls back, which GLib guarantees to happen exactly once.
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

    /// The pointer to pass as `user_data` together with ``readyCallback``.
    ///
    /// Pass it exactly once.
    package var userData: UnsafeMutableRawPointer {
        let box = ReplyBox { [continuation, finish] result in continuation.resume(returning: finish(result)) }
        return Unmanaged.passRetained(box).toOpaque()
    }
}

/// The non-generic part of a reply, which is passed through C.
private final class ReplyBox {
    let complete: (OpaquePointer) -> Void
    init(complete: @escaping (OpaquePointer) -> Void) { self.complete = complete }
}

/// The callback for every call made with ``Actor/bridge(_:finish:start:)``.
package let readyCallback: GAsyncReadyCallback = { _, result, userData in
    guard let userData, let result else {
        preconditionFailure("GLib called back without result or user data")
    }
    Unmanaged<ReplyBox>.fromOpaque(userData).takeRetainedValue().complete(result)
}

extension Actor {
    /// Makes one asynchronous C call and waits for its result.
    ///
    /// This is the only place where a C call becomes `async`.
    ///
    /// Cancelling the task triggers `cancellable`. The call then ends in its usual way, and this function waits until
    /// it has ended so that no C operation is left running. The actor must run on ``GLibExecutor``.
    ///
    /// - Parameters:
    ///   - cancellable: A cancellable that was created before the call, so that an early cancellation is not lost.
    ///   - finish: A function that converts the `GAsyncResult` to a value with the call's `…_finish()`.
    ///   - start: A function that starts the C call with ``readyCallback`` and the reply's user data.
    /// - Returns: The value returned by `finish`.
    /// - Throws: The error thrown by `finish`.
    package func bridge<Value: Sendable, Failure: Error>(
        _ cancellable: borrowing Cancellable,
        finish: @escaping Reply<Value, Failure>.Finish,
        start: (Reply<Value, Failure>) -> Void
    ) async throws(Failure) -> Value {
        let cancel = cancellable.trigger
        GLibExecutor.shared.beginCall()
        defer { GLibExecutor.shared.endCall() }
        return try await withTaskCancellationHandler {
            // This also keeps the closure on the actor. Without it the closure silently leaves the actor (Swift 6.3.1),
            // and the C call starts on another thread and never completes.
            preconditionIsolated()
            GLibExecutor.shared.checkIsolated()
            return await withCheckedContinuation { start(Reply($0, finish)) }
        } onCancel: {
            cancel()
        }.get()
    }
}

/// An owned `GCancellable`.
package struct Cancellable: ~Copyable {
    private let object: SharedCancellable

    package init() {
        object = SharedCancellable()
    }

    /// The C object (transfer none), valid for the lifetime of this value.
    package var pointer: UnsafeMutablePointer<GCancellable> { object.pointer }

    /// A function that any thread can call to cancel the operation on the GLib thread.
    ///
    /// libfprint's signal handlers change the state of a device on the thread that cancels.
    package var trigger: @Sendable () -> Void {
        let object = object
        return { GLibExecutor.shared.perform { g_cancellable_cancel(object.pointer) } }
    }
}

/// A shared owner of the C object, because the trigger may be called after the operation has ended.
///
/// Unchecked: the pointer never changes, and GCancellable's reference count and `g_cancellable_cancel()` are safe to
/// use from any thread.
private final class SharedCancellable: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GCancellable>

    init() {
        guard let pointer = g_cancellable_new() else {
            preconditionFailure("g_cancellable_new() returned NULL")
        }
        self.pointer = pointer
    }

    deinit { g_object_unref(pointer) }
}

/// The content of a `GError`, copied out of the C object.
package struct GErrorText: Sendable {
    /// The error's domain as a quark, for comparison with the values of the `…_quark()` functions.
    package let domain: GQuark
    /// The code within the domain.
    package let code: Int
    /// The domain's name, the code and the message, for logs.
    package let text: String

    /// Takes and frees `error` (transfer full), or returns `nil` if `error` is null.
    package init?(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else { return nil }
        self.init(copying: error)
        g_error_free(error)
    }

    /// Copies `error` (transfer none).
    package init(copying error: UnsafePointer<GError>) {
        domain = error.pointee.domain
        code = Int(error.pointee.code)
        let name = g_quark_to_string(domain).map { String(cString: $0) } ?? "unknown"
        let message = error.pointee.message.map { String(cString: $0) } ?? "no message"
        text = "\(name) \(code): \(message)"
    }
}
