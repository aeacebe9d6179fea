// SPDX-License-Identifier: Apache-2.0

import PromptWindows
import WhorlRemote
import WhorlService

/// The prompts of a command that this program runs, which has no terminal to show them on.
enum PromptsForCommand {
    /// Runs a function; if the session has no agent, this program shows the prompts in the meantime.
    ///
    /// - Parameter body: Runs the command.
    /// - Returns: The function's result.
    /// - Throws: The reason why no prompts can be shown; the function was not called then.
    @concurrent
    static func shown<Value: Sendable>(
        while body: @Sendable () async -> Value
    ) async throws(ServiceError) -> Value {
        let (registered, sink) = AsyncStream.makeStream(of: ServiceError?.self)
        let showing = Task {
            do throws(ServiceError) {
                try await SessionPrompts.show(on: WindowPresenter()) { sink.yield(nil) }
            } catch {
                sink.yield(error.code == .agentTaken ? nil : error)
            }
            sink.finish()
        }
        defer { showing.cancel() }
        for await obstacle in registered {
            if let obstacle { throw obstacle }
            break
        }
        return await body()
    }
}
