// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import WhorlRemote
import WhorlService
import WhorlSupport

/// The check of where the engine runs, with a suggestion for how to isolate it from other programs.
struct ServiceDiagnosis {
    let session: Session

    func check() async -> Check {
        switch session.place {
        case .system: await systems()
        case .privateChild, .inProcess:
            .note(
                "service",
                "Not in use. Other programs running as you can read anything a finger unlocks.",
                remedy: remedy
            )
        }
    }

    private func systems() async -> Check {
        do throws(ServiceError) {
            _ = try await session.services.ask(HasState())
        } catch  where error.code == .serviceUnavailable {
            guard !ServiceInstallation().isSwitchedOff else {
                return .bad(
                    "service",
                    "The service is disabled by the administrator.",
                    remedy: "sudo systemctl enable --now whorld.socket"
                )
            }
            return .bad(
                "service",
                "The service does not respond (\(error.cause)).",
                remedy: "sudo systemctl restart whorld.socket; systemctl status whorld.service"
            )
        } catch {
            guard error.code != .notPermitted else {
                return .bad(
                    "service",
                    "The service refuses this program: \(error.message)",
                    remedy: error.recovery
                )
            }
            // The service answers; problems with the state are reported by the check of the state.
        }
        return .good("service", "The service is running; no other program can read what a finger unlocks.")
    }

    /// Returns the check of who owns fprintd's bus name; `nil` if the name is free or the system service is not in use.
    func fprintdsPlace() -> Check? {
        guard session.place == .system else { return nil }
        return switch FprintdPlace() {
        case .free: nil
        case .whorl:
            .good("fprintd", "Programs that use fprintd, such as the desktop's settings, use this service.")
        case .fprintd:
            .note(
                "fprintd",
                "fprintd is separate: the desktop's settings and pam_fprintd.so use its fingers, not these.",
                remedy: FprintdPlace.remedy
            )
        }
    }

    /// The step that is still needed to use the system service.
    private var remedy: String {
        ServiceInstallation().isInstalled
            ? "sudo systemctl enable --now whorld.socket"
            : "Ask an administrator to install the service: the package whorld, or sudo make install"
    }
}

/// The check of the system service's configuration file.
struct ConfigurationDiagnosis {
    /// The path of the file.
    var path = "/etc/whorl/whorld.conf"

    /// Returns the checks of the file; none if it does not exist, because the service then uses the defaults.
    func checks() -> [Check] {
        guard access(path, F_OK) == 0 else { return [] }
        // The service reads its own file (`whorld --check-config`).
        guard let program = HelperProgram(named: "whorld"),
            let (status, text) = program.output(of: ["--check-config", "--config", path])
        else {
            return [
                .warning(
                    "configuration",
                    "Cannot check \(path): the program whorld is missing.",
                    remedy: "Reinstall Whorl."
                )
            ]
        }
        let line = DisplayText.clean(String(text.prefix { $0 != "\n" }), limit: 500)
        guard status == 0 else {
            return [
                .bad(
                    "configuration",
                    "The service does not start: \(line)",
                    remedy: "Fix the file, then: sudo systemctl restart whorld.socket"
                )
            ]
        }
        guard line.isEmpty else {
            return [
                .warning("configuration", line, remedy: "Fix the name in \(path), or remove the line.")
            ]
        }
        return [.good("configuration", "\(path) is valid.")]
    }
}
