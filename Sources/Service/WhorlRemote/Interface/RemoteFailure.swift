// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

/// An error of a service that crosses the wire with all of its values.
protocol RemoteFailure: Error, Codable, Sendable {
    /// The error's qualified name in the interface.
    static var name: String { get }

    /// Makes the error for a call that got no answer; no such error is ever a success.
    init(unanswered error: ServiceCallError)
}

extension RemoteFailure {
    /// The refusal that carries the error.
    var refusal: ServiceRefusal { ServiceRefusal(Self.name, failure: self) }

    /// Makes the error of a call that failed: the service's own, or the reason why there is no answer.
    init(_ error: ServiceCallError) {
        if case .refused(let refusal) = error, refusal.name == Self.name,
            let failure = refusal.failure(as: Self.self)
        {
            self = failure
        } else {
            self.init(unanswered: error)
        }
    }
}

extension StateError: RemoteFailure {
    static var name: String { "io.whorl.Maintenance.StateFailed" }

    /// Makes the error for a call that was refused for a reason of the state or of the account, which every method may
    /// have, or that got no answer.
    init(unanswered error: ServiceCallError) {
        if case .refused(let refusal) = error, refusal.name == Self.name,
            let reason = refusal.failure(as: StateError.self)
        {
            self = reason
            return
        }
        if case .refused(let refusal) = error, let message = refusal.details["message"],
            let recovery = refusal.details["recovery"]
        {
            self.init(
                .failed,
                path: "whorld",
                message: message,
                recovery: recovery,
                cause: "the service refused the call with \(refusal.name)"
            )
            return
        }
        let (message, recovery) = error.explanation
        self.init(.failed, path: "whorld", message: message, recovery: recovery, cause: "\(error)")
    }
}

extension VaultError: RemoteFailure {
    static var name: String { "io.whorl.Items.Failed" }
    init(unanswered error: ServiceCallError) { self.init(.store(StateError(unanswered: error)), "whorld") }
}

extension EnrollmentError: RemoteFailure {
    static var name: String { "io.whorl.Fingers.Failed" }
    init(unanswered error: ServiceCallError) { self.init(.store(StateError(unanswered: error))) }
}

extension AuthenticationError: RemoteFailure {
    static var name: String { "io.whorl.Owner.AuthenticationFailed" }

    init(unanswered error: ServiceCallError) {
        guard error != .cancelled else {
            self.init(.appCancel)
            return
        }
        self.init(StateError(unanswered: error))
    }
}

extension ReleaseError: RemoteFailure {
    static var name: String { "io.whorl.Items.ReleaseFailed" }
    init(unanswered error: ServiceCallError) { self = .evaluation(AuthenticationError(unanswered: error)) }
}

extension FingerChangeError: RemoteFailure {
    static var name: String { "io.whorl.Fingers.ChangeFailed" }

    init(unanswered error: ServiceCallError) {
        guard error != .cancelled else {
            self = .fingers(EnrollmentError(.reader(ReaderError(.cancelled, operation: "enroll"))))
            return
        }
        // Before the owner is asked, the fingers themselves can be the reason.
        if case .refused(let refusal) = error, refusal.name == EnrollmentError.name,
            let failure = refusal.failure(as: EnrollmentError.self)
        {
            self = .fingers(failure)
            return
        }
        self = .owner(AuthenticationError(unanswered: error))
    }
}

extension ReaderError: RemoteFailure {
    static var name: String { "io.whorl.Readers.Failed" }

    init(unanswered error: ServiceCallError) {
        let code: ReaderError.Code =
            if case .refused = error { .permissionDenied } else {
                error == .cancelled ? .cancelled : .malfunction
            }
        self.init(code, operation: "service", cause: error.words)
    }
}

extension Result {
    /// Keeps the outcome of a call, for what has to be done before it is returned or thrown.
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension ServiceCallError {
    /// Whether the service does not have the method, as one of an earlier version.
    private var isOfOlderService: Bool {
        guard case .refused(let refusal) = self else { return false }
        return ["MethodNotFound", "InterfaceNotFound"].contains {
            refusal.name == "org.varlink.service.\($0)"
        }
    }

    /// Whether an administrator has switched the service off.
    private var isSwitchedOff: Bool {
        guard case .connection(let error?) = self else { return false }
        return error.isSwitchedOff
    }

    /// Two sentences for people: what happened, and what to do.
    fileprivate var explanation: (message: String, recovery: String) {
        if isSwitchedOff {
            return (
                "The service whorld is switched off by the administrator.",
                """
                Switch it on: `sudo systemctl enable --now whorld.socket`. Or set WHORL_SERVICE=private to use \
                fingers and secrets in your own directory, which your other programs can read.
                """
            )
        }
        if isOfOlderService {
            return (
                "The service whorld is older than this program, and does not know what it asks for.",
                "Restart the service, so that it is the one that was installed: `sudo systemctl restart whorld`."
            )
        }
        return (
            "The service whorld did not answer: \(words).",
            "Run `whorl doctor`: it says whether the service runs."
        )
    }

    /// The reason, for people.
    fileprivate var words: String {
        switch self {
        case .connection(nil): "it hung up"
        case .connection(let error?) where error.isSwitchedOff: "the administrator has switched it off"
        case .connection(let error?): error.description
        case .malformed: "its answer cannot be read"
        case .refused(let refusal): refusal.details["message"] ?? "it refused with \(refusal.name)"
        case .cancelled: "the call was cancelled"
        }
    }
}
