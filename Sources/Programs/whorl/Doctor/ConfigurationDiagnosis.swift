// SPDX-License-Identifier: Apache-2.0

import WhorlConfiguration

/// The check of the administrator's file for the system's service.
struct ConfigurationDiagnosis {
    /// The path of the file.
    var path = ServiceConfiguration.path

    /// Returns one check; none where there is no file, since the service then takes the defaults.
    func checks() -> [Check] {
        do throws(ConfigurationFault) {
            let read = try ServiceConfiguration.read(path)
            guard read.hasFile else { return [] }
            guard let warning = read.warnings.first else {
                return [.good("configuration", "\(path) is in order.")]
            }
            return [
                .warning("configuration", warning, remedy: "Correct the name in \(path), or remove the line.")
            ]
        } catch {
            return [
                .bad(
                    "configuration",
                    "The service does not start: \(error)",
                    remedy: "Correct the file, then: sudo systemctl restart whorld.socket"
                )
            ]
        }
    }
}
