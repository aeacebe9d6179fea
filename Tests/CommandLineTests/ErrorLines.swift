// SPDX-License-Identifier: Apache-2.0

import WhorlService

@testable import whorl

/// An error as the program reports it to people, with the sentences of the table: a test names the error.
extension ServiceError {
    /// The line that says what happened.
    var errorLine: String { "whorl: error: \(Console.phrase(message))\n" }

    /// The line that says what to do.
    var hintLine: String { "whorl: hint: \(Console.phrase(recovery))\n" }
}

extension WhorlProgram.Outcome {
    /// The sentence that says what happened, with `--json`.
    var errorMessage: String? { answer("error")?["message"] as? String }

    /// The sentence that says what to do, with `--json`.
    var errorRecovery: String? { answer("error")?["recovery"] as? String }
}
