// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// Runs a call of a service, whose error becomes the refusal that carries it.
func refusing<Value>(
    _ answer: @autoclosure () async throws(ServiceError) -> Value
) async throws(ServiceRefusal) -> Value {
    do { return try await answer() } catch { throw error.refusal }
}

/// Runs a call of a service that does not wait, whose error becomes the refusal that carries it.
func refusing<Value>(
    _ answer: @autoclosure () throws(ServiceError) -> Value
) throws(ServiceRefusal) -> Value {
    do { return try answer() } catch { throw error.refusal }
}

/// Runs a call during which the owner is asked, whose error becomes the refusal that carries it.
func refusing<Value, Reply>(
    _ presenter: WirePresenter<Reply>,
    _ answer: @autoclosure () async throws(ServiceError) -> Value
) async throws(ServiceRefusal) -> Value {
    let value: Value
    do { value = try await answer() } catch { throw (presenter.loss?.explaining(error) ?? error).refusal }
    if let lock = await presenter.lateLock() { throw lock.refusal }
    return value
}

extension ServiceError {
    /// The error of a call whose prompt only an agent may show, where none is registered.
    static let noAgent = ServiceError(
        .notInteractive,
        message:
            "No agent is registered to show the prompt, and the service is configured to require one.",
        recovery: "Start an agent in this session, such as `whorl agent` in another terminal."
    )

    /// The error of a call whose prompt was shown by an agent that has ended.
    static let agentEnded = ServiceError(
        .systemCancel,
        message: "The agent that showed the prompt has exited.",
        recovery: "Start the agent again, then try again."
    )

    /// Whether the error says only that the evaluation was stopped, or that there is no prompt.
    private var isStop: Bool {
        [.notInteractive, .appCancel, .userCancel, .systemCancel, .timedOut].contains(code)
    }

    /// Returns this reason in place of an error that was a stop; an error of another kind says more.
    func explaining(_ error: ServiceError) -> ServiceError { error.isStop ? self : error }
}
