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

extension OwnerRequest {
    /// Returns the request with what the service knows of its caller in place of what the message says.
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
    /// The program's name, and what it asks for.
    var callPurpose: CallPurpose { CallPurpose(application: request.application.rawValue, text: purpose) }
}
