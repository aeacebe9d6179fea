// SPDX-License-Identifier: Apache-2.0

import Authentication
import Glibc

/// Looks whether there is a TPM; nothing is asked of it, and nothing here depends on one.
struct TPMDiagnosis: Sendable {
    private let tcti: String

    init(_ session: Session) {
        let variable = getenv("WHORL_TCTI").map { String(cString: $0) } ?? ""
        tcti = session.options.tcti ?? (variable.isEmpty ? "device:/dev/tpmrm0" : variable)
    }

    func check() -> Check {
        guard tcti != "none" else { return .note("TPM", "None is to be used.") }
        guard tcti.hasPrefix("device:") else {
            return .note("TPM", "\(shown(tcti)) is a simulated TPM, and is not looked at.")
        }
        let node = String(tcti.dropFirst("device:".count))
        guard access(node, F_OK) == 0 else { return .note("TPM", "There is no \(shown(node)).") }
        guard access(node, R_OK | W_OK) == 0 else {
            return .note(
                "TPM",
                "\(shown(node)) is there, and this user may not open it.",
                remedy: "sudo usermod -aG tss \"$USER\", then log in again"
            )
        }
        return .note("TPM", "\(shown(node)) can be opened.")
    }

    private func shown(_ text: String) -> String { DisplayText.clean(text, limit: 60) }
}
