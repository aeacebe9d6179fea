// SPDX-License-Identifier: Apache-2.0

package import Authentication
internal import Synchronization
package import Vault
internal import WhorlSupport

/// Why an operation on a protected item did not come to its end.
package enum ReleaseFailure: Error, Sendable {
    /// The owner was not recognised, or the context has ended.
    case context(LAError)
    /// The vault or the chip refused.
    case vault(VaultError)

    /// What a failed release means for a program.
    package init(_ error: ReleaseError) {
        switch error {
        case .evaluation(let error): self = .context(LAError(error))
        case .vault(let error): self = .vault(error)
        }
    }
}

extension ContextCore {
    /// An operation on a protected item: it gets the surroundings, the request, and who shows the prompt.
    package typealias Operation<Value> =
        @Sendable (ContextParts, ReleaseRequest, any PromptPresenter) async throws(ReleaseError) -> Value

    /// Does an operation for which the owner may be asked; what he has shown to this context before counts.
    ///
    /// Any number of them may run at a time, and ``invalidate()`` ends them.
    ///
    /// - Parameters:
    ///   - reason: Why the program asks; without one the context's own, and without that a general one.
    ///   - operation: What to do.
    /// - Returns: What the operation gave, or why it did not come to its end.
    package func release<Value: Sendable>(
        reason: String? = nil,
        _ operation: @escaping Operation<Value>
    ) async -> Result<Value, ReleaseFailure> {
        do throws(LAError) {
            let running = try beginRelease(reason: reason, operation)
            let result = await withTaskCancellationHandler {
                await running.task.value
            } onCancel: {
                running.task.cancel()
            }
            return endRelease(running.number, result)
        } catch {
            return .failure(.context(error))
        }
    }

    /// The same for a caller who waits on its thread; nobody but the caller is blocked.
    ///
    /// A prompt presenter gets `notInteractive` at once: what it waits for would wait for its own prompt to end.
    package func releaseBlocking<Value: Sendable>(
        reason: String? = nil,
        _ operation: @escaping Operation<Value>
    ) -> Result<Value, ReleaseFailure> {
        guard !PresentingTask.isRunning else {
            return .failure(.context(LAError(AuthenticationError(.notInteractive))))
        }
        return WorkerThread.releases.wait { await self.release(reason: reason, operation) }
    }

    /// Begins an operation on a protected item.
    ///
    /// - Throws: `invalidContext`; nothing has begun then.
    private func beginRelease<Value: Sendable>(
        reason: String?,
        _ operation: @escaping Operation<Value>
    ) throws(LAError) -> (number: Int, task: Task<Result<Value, ReleaseError>, Never>) {
        let parts = parts()
        return try state.withLock { state throws(LAError) in
            guard !state.isInvalidated else { throw LAError(AuthenticationError(.invalidContext)) }
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
                do throws(ReleaseError) {
                    return Result<Value, ReleaseError>.success(try await operation(parts, request, presenter))
                } catch {
                    return .failure(error)
                }
            }
            state.releaseCount += 1
            state.releases[state.releaseCount] = { task.cancel() }
            return (state.releaseCount, task)
        }
    }

    /// Writes the end of an operation down; after ``invalidate()`` nothing is a success any more.
    private func endRelease<Value: Sendable>(
        _ number: Int,
        _ result: Result<Value, ReleaseError>
    ) -> Result<Value, ReleaseFailure> {
        state.withLock { state in
            state.releases[number] = nil
            guard !state.isInvalidated else {
                return .failure(.context(LAError(AuthenticationError(.appCancel))))
            }
            return result.mapError(ReleaseFailure.init)
        }
    }
}
