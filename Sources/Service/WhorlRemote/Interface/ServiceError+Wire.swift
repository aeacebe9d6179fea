// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

// The only error of the interfaces, as sent by the service and read by a program.

extension ServiceError {
    /// The qualified name of the error.
    static let name = "io.whorl.Failed"

    /// The refusal that carries the error.
    var refusal: ServiceRefusal { ServiceRefusal(Self.name, failure: self) }

    /// Creates the error for a call that failed: the service's own error, or the reason why there is no answer.
    init(_ error: ServiceCallError) {
        switch error {
        case .refused(let refusal): self = refusal.failure
        case .cancelled: self.init(.appCancel)
        case .connection, .malformed: self.init(unanswered: error)
        }
    }

    /// Creates the error for a call that was not answered.
    fileprivate init(unanswered error: ServiceCallError) {
        let (message, recovery) = error.explanation
        self.init(.serviceUnavailable, message: message, recovery: recovery, cause: error.words)
    }

    /// Creates the form of a reader's failure in which it can be sent, with all of its values.
    init(crossing error: ReaderError) {
        let plain = ServiceError(error)
        self.init(
            plain.code,
            message: plain.message,
            recovery: plain.recovery,
            cause: error.cause,
            details: [.operation: error.operation, .failure: error.code.rawValue]
        )
    }
}

extension ReaderError {
    /// Creates a reader's failure from the form in which it was sent.
    ///
    /// Any other error becomes a failure of the service that uses the reader.
    init(_ error: ServiceError) {
        if let code = Code(rawValue: error[.failure]) {
            self.init(code, operation: error[.operation], cause: error.cause)
            return
        }
        let code: Code =
            switch error.code {
            case .appCancel: .cancelled
            case .serviceUnavailable: .malfunction
            default: .permissionDenied
            }
        self.init(code, operation: "service", cause: error.message)
    }
}

extension ServiceRefusal {
    /// The refusals that concern the caller or its place, regardless of the request.
    private static let ofCallers: Set<String> = [
        "io.whorl.Connection.Confined", "io.whorl.Connection.NoAccount", "io.whorl.Connection.NotAtReader",
        "io.whorl.Connection.NotProven", LoginRefused.rootAlone,
    ]

    /// The error that the refusal contains or stands for, which is never `success`.
    fileprivate var failure: ServiceError {
        if name == ServiceError.name, let failure = failure(as: ServiceError.self) { return failure }
        let texts = details
        let isOfCaller = Self.ofCallers.contains(name)
        guard isOfCaller || (texts["message"] != nil && texts["recovery"] != nil) else {
            return ServiceError(unanswered: .refused(self))
        }
        return ServiceError(
            isOfCaller ? .notPermitted : .serviceUnavailable,
            message: texts["message"],
            recovery: texts["recovery"],
            cause: "the service refused the call with \(name)"
        )
    }
}

extension Result {
    /// Creates the result of a call, for code that must do something else before it returns or throws the result.
    init(of body: @autoclosure () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension ServiceCallError {
    /// Whether the service is an older version without the called method.
    private var isOfOlderService: Bool {
        guard case .refused(let refusal) = self else { return false }
        return ["MethodNotFound", "InterfaceNotFound"].contains {
            refusal.name == "org.varlink.service.\($0)"
        }
    }

    /// Whether an administrator has disabled the service.
    private var isSwitchedOff: Bool {
        guard case .connection(let error?) = self else { return false }
        return error.isSwitchedOff
    }

    /// Whether the service did not answer in time, for example because it cannot start.
    private var isUnanswered: Bool {
        guard case .connection(let error?) = self else { return false }
        return error.isUnanswered
    }

    /// The explanation for the user: one sentence that says what happened, and one that says what to do.
    fileprivate var explanation: (message: String, recovery: String) {
        if isSwitchedOff {
            return (
                "The service whorld is disabled by the administrator.",
                """
                Switch it on: `sudo systemctl enable --now whorld.socket`. Or set WHORL_SERVICE=private to use \
                fingers and secrets in your own directory, which your other programs can read.
                """
            )
        }
        if isOfOlderService {
            return (
                "The running service whorld is older than this program.",
                "Restart the service to run the installed version: `sudo systemctl restart whorld`."
            )
        }
        if isUnanswered {
            return (
                "The service whorld does not respond: \(words).",
                "Run `systemctl status whorld` to find out why."
            )
        }
        return (
            "The service whorld does not respond: \(words).",
            "Run `whorl doctor` to check the service."
        )
    }

    /// The reason, as shown to the user.
    fileprivate var words: String {
        switch self {
        case .connection(nil): "it closed the connection"
        case .connection(let error?) where error.isSwitchedOff: "it is disabled by the administrator"
        case .connection(let error?) where error.isUnanswered: "it did not answer in time"
        case .connection(let error?): error.description
        case .malformed: "its answer cannot be read"
        case .refused(let refusal): "it refused with \(refusal.name)"
        case .cancelled: "the call was canceled"
        }
    }
}
