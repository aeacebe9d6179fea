// SPDX-License-Identifier: Apache-2.0

import WhorlSupport
import WhorlRemote

extension Failure {
    /// Makes the failure of a choice of the engine's place that cannot be met.
    init(_ fault: ServicePlace.Fault) {
        switch fault {
        case .unknown(let other):
            self = .usage(
                "WHORL_SERVICE is “\(DisplayText.clean(other, limit: 40))”.",
                hint: "It is system, private or in-process."
            )
        case .hasChoices:
            self = .usage(
                "The system's service has a directory, a profile, a reader and a TPM of its own.",
                hint: "Leave these options and variables out, or set WHORL_SERVICE=in-process."
            )
        case .noChild, .noEngine:
            self.init(
                code: "incomplete",
                rawValue: nil,
                status: .failure,
                message: "The program whorld, which belongs to this one, could not be started.",
                reason: fault.description,
                recovery: "Install Whorl again as a whole, or unset WHORL_SERVICE."
            )
        }
    }
}
