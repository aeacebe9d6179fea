// SPDX-License-Identifier: Apache-2.0

package import Authentication
package import Vault

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
    package func releaseBlocking<Value: Sendable>(
        reason: String? = nil,
        _ operation: @escaping Operation<Value>
    ) -> Result<Value, ReleaseFailure> {
        WorkerThread.releases.wait { await self.release(reason: reason, operation) }
    }
}
