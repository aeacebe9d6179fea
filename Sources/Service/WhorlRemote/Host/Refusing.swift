// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// Runs an asynchronous call to a service, and converts its error to a refusal.
func refusing<Value>(
    _ answer: @autoclosure () async throws(ServiceError) -> Value
) async throws(ServiceRefusal) -> Value {
    do { return try await answer() } catch { throw error.refusal }
}

/// Runs a synchronous call to a service, and converts its error to a refusal.
func refusing<Value>(
    _ answer: @autoclosure () throws(ServiceError) -> Value
) throws(ServiceRefusal) -> Value {
    do { return try answer() } catch { throw error.refusal }
}

/// Runs a call that may prompt the owner, and converts its error to a refusal.
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
    /// The error for a call whose prompt only an agent may show while no agent is registered.
    static let noAgent = ServiceError(
        .notInteractive,
        message:
            "No agent is registered to show the prompt, and the service is configured to require one.",
        recovery: "Start an agent in this session, such as `whorl agent` in another terminal."
    )

    /// The error for a call whose prompt was shown by an agent that has exited.
    static let agentEnded = ServiceError(
        .systemCancel,
        message: "The agent that showed the prompt has exited.",
        recovery: "Start the agent again, then try again."
    )

    /// Whether the error only reports that the evaluation was stopped or could not prompt.
    private var isStop: Bool {
        [.notInteractive, .appCancel, .userCancel, .systemCancel, .timedOut].contains(code)
    }

    /// Returns this error if the other one only reports that the evaluation was stopped; otherwise the other one, which
    /// is more specific.
    func explaining(_ error: ServiceError) -> ServiceError { error.isStop ? self : error }
}
