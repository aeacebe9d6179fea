// SPDX-License-Identifier: Apache-2.0

internal import WhorlService
internal import WhorlContext
internal import Dispatch
internal import WhorlSupport

/// A queue for the keychain work of asynchronous functions and of functions with a completion handler.
///
/// The work blocks a thread outside of Swift's shared thread pool.
enum RightQueue {
    private static let queue = DispatchQueue(label: "whorl.right", attributes: .concurrent)

    /// Performs the work and returns its result when the work is done.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start(work) { continuation.resume(with: $0) }
        }
    }

    /// Performs the work and calls back on the thread that performed it.
    static func start<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value,
        _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        // A test's environment belongs to the task, and the thread does not inherit it.
        let parts = ContextParts.current
        queue.async {
            ContextParts.$ofTask.withValue(parts) { completion(Result(catching: work)) }
        }
    }

    /// Performs the work and calls back with a value or an error.
    static func start<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Value?, (any Error)?) -> Void
    ) {
        start(work) { result in
            switch result {
            case .success(let value): completion(value, nil)
            case .failure(let error): completion(nil, error)
            }
        }
    }

    /// Performs the work and calls back with the error or `nil`.
    static func start(
        _ work: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        start(work) { completion($0.failure) }
    }

    /// Performs asynchronous work outside of Swift's shared thread pool, and calls back with the error or `nil`.
    static func startTask(
        _ work: @escaping @Sendable () async throws -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Task(executorPreference: WorkerThread.evaluations) {
            let result: Result<Void, any Error>
            do {
                result = .success(try await work())
            } catch {
                result = .failure(error)
            }
            start({ try result.get() }, completion: completion)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}
