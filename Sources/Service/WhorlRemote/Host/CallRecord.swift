// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

/// A call that could prompt the owner, and its result; it contains no secrets.
package struct CallRecord: Sendable, Hashable {
    /// The method, such as `io.whorl.Owner.Evaluate`.
    package let method: String
    /// The name that the program claims.
    package let application: String
    /// The reason given by the program, or the requested change.
    package let purpose: String
    /// `done`, or the code of the error.
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

/// The purpose of a call, in the caller's words.
struct CallPurpose: Sendable, Hashable {
    let application: String
    let text: String
}

extension ServiceRefusal {
    /// The code of the failure that the refusal carries; otherwise the refusal's name.
    fileprivate var code: String { failure(as: ServiceError.self)?.code.rawValue ?? name }
}

extension OwnerRequest {
    /// Returns the request with the service's knowledge about the caller, replacing the claims in the message.
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
    /// The program's name, and its request.
    var callPurpose: CallPurpose { CallPurpose(application: request.application.rawValue, text: purpose) }
}
