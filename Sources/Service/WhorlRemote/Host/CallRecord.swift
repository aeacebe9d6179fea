// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

/// A call during which the owner could be asked, and how it ended; no secret is part of it.
package struct CallRecord: Sendable, Hashable {
    /// The method, such as `io.whorl.Owner.Evaluate`.
    package let method: String
    /// The name that the program gives itself.
    package let application: String
    /// The reason that the program gives, or the change that it asks for.
    package let purpose: String
    /// `done`, or the code of the error.
    package let outcome: String
    /// The number of records of the same kind that were not written before this one, since there were too many.
    package var unwritten = 0

    init<Value>(_ method: String, _ purpose: CallPurpose, _ answer: Result<Value, ServiceRefusal>) {
        self.method = method
        application = purpose.application
        self.purpose = purpose.text
        switch answer {
        case .success: outcome = "done"
        case .failure(let refusal): outcome = refusal.code
        }
    }
}

/// The purpose of a call, in the caller's words.
struct CallPurpose: Sendable, Hashable {
    let application: String
    let text: String
}

extension ServiceRefusal {
    /// The code of the failure that the refusal carries; the refusal's own name where it carries none.
    fileprivate var code: String { failure(as: ServiceError.self)?.code.rawValue ?? name }
}

/// A call during which the owner may be asked.
protocol CallForOwner {
    /// The program's name, and what it asks for.
    var purpose: CallPurpose { get }

    /// Returns the call with what the service knows of its caller in place of what the message says.
    func asked(by caller: Caller) -> Self
}

extension EvaluationRequest {
    fileprivate func asked(by caller: Caller) -> EvaluationRequest {
        var request = self
        request.application = caller.application(application)
        request.asker = caller.asker
        request.fingerObstacle = caller.fingerObstacle
        request.obstacle = caller.obstacle
        return request
    }
}

extension ConsentRequest: CallForOwner {
    var purpose: CallPurpose { CallPurpose(application: application.rawValue, text: "accept the fingers") }

    func asked(by caller: Caller) -> ConsentRequest {
        var request = self
        request.application = caller.application(application)
        request.asker = caller.asker
        request.fingerObstacle = caller.fingerObstacle
        request.obstacle = caller.obstacle
        return request
    }
}

extension OwnerInterface.Asking: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: request.reason)
    }

    func asked(by caller: Caller) -> Self { Self(request: request.asked(by: caller), session: session) }
}

extension LoginInterface.Identifying: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "identify one of \(users.count) people")
    }

    func asked(by caller: Caller) -> Self { .init(users: users, request: request.asked(by: caller)) }
}

extension ItemInterface.Using: CallForOwner {
    var purpose: CallPurpose { asking.purpose }

    func asked(by caller: Caller) -> Self {
        Self(
            id: id,
            sealed: sealed,
            use: use,
            asking: asking.asked(by: caller),
            applicationPassword: applicationPassword
        )
    }
}

extension FingerInterface.Enrolling: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "enroll the \(finger.finger.rawValue)")
    }

    func asked(by caller: Caller) -> Self { Self(finger: finger, request: request.asked(by: caller)) }
}

extension FingerInterface.Removing: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "remove fingers")
    }

    func asked(by caller: Caller) -> Self {
        Self(selection: selection, force: force, request: request.asked(by: caller))
    }
}

extension FingerInterface.Exercising: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "test the reader")
    }

    func asked(by caller: Caller) -> Self { Self(exercise: exercise, request: request.asked(by: caller)) }
}

extension PasscodeInterface.Asking: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "set a passcode")
    }

    func asked(by caller: Caller) -> Self { Self(request: request.asked(by: caller), session: session) }
}

extension PasscodeInterface.Changing: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "change the passcode")
    }

    func asked(by caller: Caller) -> Self { Self(new: new, request: request.asked(by: caller)) }
}

extension PasscodeInterface.Removing: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "remove \(subject)")
    }

    func asked(by caller: Caller) -> Self { Self(force: force, request: request.asked(by: caller)) }
}

extension MaintenanceInterface.ResealingCall: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(
            application: request.application.rawValue,
            text: "bind items to the machine's start"
        )
    }

    func asked(by caller: Caller) -> Self { Self(request: request.asked(by: caller)) }
}

extension ItemInterface.Deleting: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "delete the \(id.spoken)")
    }

    func asked(by caller: Caller) -> Self { Self(id: id, request: request.asked(by: caller)) }
}

extension OwnerInterface.OptOut: CallForOwner {
    var purpose: CallPurpose {
        let change = isOptedOut ? "deny" : "allow"
        return CallPurpose(
            application: request.application.rawValue,
            text: "\(change) fingers for \(application.rawValue)"
        )
    }

    func asked(by caller: Caller) -> Self {
        Self(application: application, isOptedOut: isOptedOut, request: request.asked(by: caller))
    }
}

extension KeyringInterface.Asking: CallForOwner {
    var purpose: CallPurpose {
        CallPurpose(application: request.application.rawValue, text: "turn the keyring on or off")
    }

    func asked(by caller: Caller) -> Self { Self(request: request.asked(by: caller)) }
}
