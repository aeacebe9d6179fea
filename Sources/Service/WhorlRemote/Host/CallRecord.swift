// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

/// The record of a call that could prompt the owner, with its result; it does not contain secrets.
package struct CallRecord: Sendable, Hashable {
    /// The method, such as `io.whorl.Owner.Evaluate`.
    package let method: String
    /// The name that the program claims.
    package let application: String
    /// The reason that the program gave, or the change that it requested.
    package let purpose: String
    /// The outcome: `done`, or the error's code.
    package let outcome: String
    /// The number of earlier records of the same kind that were dropped because there were too many.
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

/// The purpose of a call, as the caller describes it.
struct CallPurpose: Sendable, Hashable {
    let application: String
    let text: String
}

extension ServiceRefusal {
    /// The code of the failure that the refusal contains; otherwise the refusal's name.
    fileprivate var code: String { failure(as: ServiceError.self)?.code.rawValue ?? name }
}

extension OwnerRequest {
    /// Returns the request, with what the service knows about the caller in place of the message's claims.
    func asked(by caller: Caller) -> Self {
        var request = self
        request.application = caller.application(application)
        request.asker = caller.asker
        request.fingerObstacle = caller.fingerObstacle
        request.obstacle = caller.obstacle
        return request
    }
}

extension OwnerOperation {
    /// The program's name, and the purpose of its request.
    var callPurpose: CallPurpose { CallPurpose(application: request.application.rawValue, text: purpose) }
}
