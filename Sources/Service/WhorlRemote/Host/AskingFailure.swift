// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// An error of a call during which the owner is asked.
protocol AskingFailure: RemoteFailure {
    /// The evaluation's error; `nil` where the evaluation is not what failed.
    var evaluation: AuthenticationError? { get }

    /// Makes the error of an evaluation that failed.
    init(evaluation: AuthenticationError)
}

extension AuthenticationError: AskingFailure {
    var evaluation: AuthenticationError? { self }
    init(evaluation: AuthenticationError) { self = evaluation }
}

extension ReleaseError: AskingFailure {
    var evaluation: AuthenticationError? {
        switch self {
        case .evaluation(let error): error
        case .vault: nil
        }
    }

    init(evaluation: AuthenticationError) { self = .evaluation(evaluation) }
}

extension FingerChangeError: AskingFailure {
    var evaluation: AuthenticationError? {
        switch self {
        case .owner(let error): error
        case .fingers(let error):
            if case .reader(let error) = error.code { AuthenticationError(error) } else { nil }
        }
    }

    init(evaluation: AuthenticationError) { self = .owner(evaluation) }
}

extension AuthenticationError {
    /// The error of a call whose prompt only an agent may show, where none is registered.
    static let noAgent = AuthenticationError(
        .notInteractive,
        message:
            "No agent is registered that could show the prompt, and the service's configuration demands one.",
        recovery: "Start an agent in this session, such as `whorl agent` in another terminal."
    )

    /// The error of a call whose prompt was shown by an agent that has ended.
    static let agentEnded = AuthenticationError(
        .systemCancel,
        message: "The agent that showed the prompt has ended.",
        recovery: "Start the agent again, and then the request."
    )

    /// Whether the error says only that the evaluation was stopped, or that there is no prompt.
    private var isStop: Bool {
        [.notInteractive, .appCancel, .userCancel, .systemCancel].contains(code)
    }

    /// Returns the failure with this reason where it was a stop; a failure of another kind says more.
    func explaining<Failure: AskingFailure>(_ failure: Failure) -> Failure {
        failure.evaluation?.isStop == true ? Failure(evaluation: self) : failure
    }
}

/// Runs a call during which the owner is asked, whose failure becomes the refusal that carries it.
func refusing<Value, Reply, Failure: AskingFailure>(
    _ presenter: WirePresenter<Reply>,
    _ body: () async throws(Failure) -> Value
) async throws(ServiceRefusal) -> Value {
    try await refusing { () async throws(Failure) in
        let value: Value
        do throws(Failure) {
            value = try await body()
        } catch {
            throw presenter.loss?.explaining(error) ?? error
        }
        if let lock = await presenter.lateLock() { throw Failure(evaluation: lock) }
        return value
    }
}
