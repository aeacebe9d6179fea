// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The result of one check of the setup; `whorl doctor` has more of them.
struct HealthCheck: Sendable {
    enum Verdict: Sendable {
        case good
        /// It works, but with less protection than is possible.
        case warning
        case bad
    }

    /// A fix that the window can apply.
    enum Remedy: Sendable {
        case verifyPasscode
        case protectPrints
    }

    let name: String
    let verdict: Verdict
    let sentences: [String]
    var remedy: Remedy?

    private init(_ name: String, _ verdict: Verdict, _ sentences: String..., remedy: Remedy? = nil) {
        self.name = name
        self.verdict = verdict
        self.sentences = sentences
        self.remedy = remedy
    }

    private init(_ name: String, _ error: ServiceError) {
        self.init(name, .bad, translated(error.message), translated(error.recovery))
    }

    /// Checks everything.
    ///
    /// If the service does not respond, nothing else can be checked.
    static func all(_ services: Services) async -> [HealthCheck] {
        let name = translated("Service")
        do throws(ServiceError) {
            let _: Bool = try await services.ask(HasState())
        } catch {
            return [HealthCheck(name, error)]
        }
        let service = HealthCheck(name, .good, translated("The service is running."))
        return await [service] + readers(services) + fingers(services) + attempts(services) + chip(services)
    }

    private static func readers(_ services: Services) async -> [HealthCheck] {
        let name = translated("Reader")
        do throws(ServiceError) {
            var checks: [HealthCheck] = []
            for reader in try await services.readers.readers() {
                let info = await reader.info
                let sentence = translated("Connected: %1$@.", with: DisplayText.clean(info.name, limit: 100))
                let warning = info.kind.warning.map { translated($0) } ?? ""
                checks.append(HealthCheck(name, warning.isEmpty ? .good : .warning, sentence, warning))
            }
            return checks.isEmpty ? [HealthCheck(name, ServiceError(.biometryNotAvailable))] : checks
        } catch {
            return [HealthCheck(name, error)]
        }
    }

    /// Returns checks if the fingers cannot be trusted, or some were enrolled on a reader that is not connected.
    private static func fingers(_ services: Services) async -> [HealthCheck] {
        let name = translated("Fingers")
        do throws(ServiceError) {
            var connected: Set<ReaderID> = []
            for reader in try await services.readers.readers() { connected.insert(await reader.info.id) }
            let fingers: [EnrolledFinger] = try await services.ask(ListFingers())
            let elsewhere = Set(fingers.filter { !connected.contains($0.reader) }.map(\.readerName))
            guard !elsewhere.isEmpty else { return [] }
            let names = DisplayText.clean(elsewhere.sorted().joined(separator: ", "), limit: 200)
            let sentence = translated("Enrolled on a reader that is not connected: %1$@.", with: names)
            return [HealthCheck(name, .warning, sentence)]
        } catch {
            return [HealthCheck(name, error)]
        }
    }

    private static func attempts(_ services: Services) async -> [HealthCheck] {
        let name = translated("Lockout")
        do throws(ServiceError) {
            let statuses: [AttemptStatus] = try await services.ask(ListAttempts())
            let isLocked = statuses.contains { $0.lock != .open }
            guard isLocked else {
                return [HealthCheck(name, .good, translated("Fingers are not locked out."))]
            }
            let error = ServiceError(.biometryLockout)
            var check = HealthCheck(name, error)
            // Without a TPM, there is no passcode, and the check of the TPM says so.
            let hasPasscode: Bool? = try? await services.ask(IsPasscodeSet())
            if hasPasscode == true { check.remedy = .verifyPasscode }
            return [check]
        } catch {
            return [HealthCheck(name, error)]
        }
    }

    private static func chip(_ services: Services) async -> [HealthCheck] {
        do throws(ServiceError) {
            let status = try await services.ask(ReadVaultStatus())
            var checks = status.problems.map { HealthCheck("TPM", $0) }
            if let chip = status.chip {
                let sentence = translated(
                    "The TPM responds: %1$@.",
                    with: DisplayText.clean(chip.manufacturer, limit: 20)
                )
                checks.append(
                    status.isSimulated
                        ? HealthCheck("TPM", .warning, sentence, translated("The TPM is simulated."))
                        : HealthCheck("TPM", .good, sentence)
                )
                if !chip.lockoutAuthSet {
                    let sentence =
                        "Any program that uses the TPM can reset its count of wrong passcodes. To prevent this:"
                    checks.append(
                        HealthCheck("TPM", .warning, translated(sentence), "tpm2_changeauth -c lockout …")
                    )
                }
            }
            return checks + [key(status)].compactMap(\.self)
        } catch {
            return [HealthCheck("TPM", error)]
        }
    }

    /// Returns the check of what protects the prints; `nil` if there are none yet.
    private static func key(_ status: VaultStatus) -> HealthCheck? {
        let name = translated("Prints")
        switch status.stateKey {
        case .none: return nil
        case .sealed: return HealthCheck(name, .good, translated("The TPM protects the prints."))
        case .file, .both:
            let sentence = translated("A file that only the service can read protects the prints.")
            let remedy: Remedy? = status.chip == nil ? nil : .protectPrints
            return HealthCheck(name, .warning, sentence, remedy: remedy)
        }
    }
}
