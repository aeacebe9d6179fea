// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import WhorlService
internal import WhorlSupport

extension ContextCore {
    /// An operation on a protected item.
    ///
    /// Its arguments are the environment, the request and the prompt's presenter.
    package typealias Operation<Value> =
        @Sendable (ContextParts, ReleaseRequest, any PromptPresenter) async throws(ServiceError) -> Value

    /// Performs an operation that may prompt the owner.
    ///
    /// Authentication that has already taken place in this context counts.
    ///
    /// Any number of operations can run at the same time. ``invalidate()`` ends them.
    ///
    /// - Parameters:
    ///   - reason: The reason shown in the prompt. The default is the context's reason or, if the context has none, a
    ///     general one.
    ///   - operation: The operation.
    /// - Returns: The result of the operation, or its failure.
    package func release<Value: Sendable>(
        reason: String? = nil,
        _ operation: @escaping Operation<Value>
    ) async -> Result<Value, ServiceError> {
        do throws(ServiceError) {
            let running = try beginRelease(reason: reason, operation)
            let result = await withTaskCancellationHandler {
                await running.task.value
            } onCancel: {
                running.task.cancel()
            }
            return endRelease(running.number, result)
        } catch {
            return .failure(error)
        }
    }

    /// Performs an operation like `release(reason:_:)`, and blocks only the calling thread until the operation ends.
    ///
    /// If a prompt presenter calls this method, the call fails immediately with `notInteractive`, because it would
    /// otherwise wait for the presenter's own prompt.
    package func releaseBlocking<Value: Sendable>(
        reason: String? = nil,
        _ operation: @escaping Operation<Value>
    ) -> Result<Value, ServiceError> {
        guard !PresentingTask.isRunning else { return .failure(ServiceError(.notInteractive)) }
        return WorkerThread.releases.wait { await self.release(reason: reason, operation) }
    }

    /// The reason why operations cannot start now, or `nil` if they can.
    ///
    /// Reading this property never prompts.
    package var releaseObstacle: ServiceError? {
        if PresentingTask.isRunning { return ServiceError(.notInteractive) }
        return state.withLock { $0.isInvalidated } ? ServiceError(.invalidContext) : nil
    }

    /// Starts an operation on a protected item.
    ///
    /// - Throws: `invalidContext` if the context has been invalidated. If it is thrown, no operation has been started.
    private func beginRelease<Value: Sendable>(
        reason: String?,
        _ operation: @escaping Operation<Value>
    ) throws(ServiceError) -> (number: Int, task: Task<Result<Value, ServiceError>, Never>) {
        let parts = parts()
        return try state.withLock { state throws(ServiceError) in
            guard !state.isInvalidated else { throw ServiceError(.invalidContext) }
            let reasons = [reason, state.settings.reason].compactMap(\.self)
            var request = ReleaseRequest(
                state.settings.request(
                    .deviceOwner,
                    reason: reasons.first { !DisplayText.isBlank($0) } ?? "use a protected item",
                    for: parts.application
                ),
                applicationPassword: state.credentials[.applicationPassword]
            )
            request.evaluation.session = session
            let presenter = PresentingTask(presenter: state.settings.presenter ?? parts.presenter)
            let task = Task(executorPreference: WorkerThread.releases) { [request] in
                do throws(ServiceError) {
                    return Result<Value, ServiceError>.success(try await operation(parts, request, presenter))
                } catch {
                    return .failure(error)
                }
            }
            state.releaseCount += 1
            state.releases[state.releaseCount] = { task.cancel() }
            return (state.releaseCount, task)
        }
    }

    /// Removes an operation that has ended.
    ///
    /// After ``invalidate()``, the result of the operation is `appCancel`, never a success.
    private func endRelease<Value: Sendable>(
        _ number: Int,
        _ result: Result<Value, ServiceError>
    ) -> Result<Value, ServiceError> {
        state.withLock { state in
            state.releases[number] = nil
            return state.isInvalidated ? .failure(ServiceError(.appCancel)) : result
        }
    }
}
