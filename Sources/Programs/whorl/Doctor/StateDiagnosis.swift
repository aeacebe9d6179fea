// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The checks of the state directory and its contents.
struct StateDiagnosis: Sendable {
    let session: Session
    private var services: Services { session.services }

    func checks() async -> [Check] {
        let path = await services.facts().statePath
        let hasState: Bool
        do throws(ServiceError) {
            hasState = try await services.ask(HasState())
        } catch {
            return [problem(error)]
        }
        guard hasState else {
            return [
                .good("state directory", "Nothing is stored in \(path) yet."),
                .note("fingers", "No fingers enrolled.", remedy: "whorl enroll right-index-finger"),
            ]
        }
        return [
            .good("state directory", "\(path) is readable by you only."),
            .good("database", "It is intact and up to date."),
            await key(),
        ] + (await fingers()) + (await turns()) + (await AttemptDiagnosis(session).checks())
    }

    /// Returns a check if the file that makes evaluations take turns has a problem.
    private func turns() async -> [Check] {
        let fault: ServiceError?
        do throws(ServiceError) {
            fault = try await services.ask(ReadLockFileFault())
        } catch {
            fault = error
        }
        return fault.map { [.bad("state directory", Failure($0))] } ?? []
    }

    private func key() async -> Check {
        // The check of the TPM reports why its status cannot be read; without it, nothing is known.
        guard let place = (try? await services.ask(ReadVaultStatus()))?.stateKey else {
            return .note("key", "Unknown: cannot read the TPM's status.")
        }
        guard place != .both else {
            return .warning(
                "key",
                "The TPM protects the prints, but their key is also in a file that only you can read.",
                remedy: "whorl vault provision"
            )
        }
        guard place == .sealed else {
            return .note("key", "The prints are protected by a file that only you can read, not by a TPM.")
        }
        return await services.facts().usedSimulatedTPM
            ? .note("key", "The prints are protected by a simulated TPM.")
            : .good("key", "The prints are protected by the TPM.")
    }

    /// Returns the check for a problem that prevents all further checks.
    private func problem(_ error: ServiceError) -> Check {
        let name =
            switch error.code {
            case .storeDamaged, .storeNewer, .storeForeign, .diskFull, .quotaReached, .storeBusy: "database"
            case .storeKeyMissing, .storeKeyDamaged: "key"
            default: error.category == .chipUnavailable ? "key" : "state directory"
            }
        return .bad(name, Failure(error))
    }

    private func fingers() async -> [Check] {
        let fingers: [EnrolledFinger]
        do throws(ServiceError) {
            fingers = try await services.ask(ListFingers())
        } catch {
            return [.bad("fingers", Failure(error))]
        }
        guard !fingers.isEmpty else {
            return [.note("fingers", "No fingers enrolled.", remedy: "whorl enroll right-index-finger")]
        }
        let names = fingers.map(\.finger.rawValue).joined(separator: ", ")
        return [.good("fingers", "\(fingers.count) enrolled: \(names).")] + (await places(of: fingers))
    }

    /// Returns the checks for fingers whose reader is not connected.
    private func places(of fingers: [EnrolledFinger]) async -> [Check] {
        // The check of the readers reports why they cannot be listed.
        let readers = (try? await services.readers.readers()) ?? []
        var connected: Set<ReaderID> = []
        for reader in readers { connected.insert(await reader.info.id) }
        let away = fingers.filter { !connected.contains($0.reader) }
        guard !away.isEmpty else { return [] }
        let names = Set(away.map { "\($0.readerName) (\($0.reader))" }).sorted().joined(separator: ", ")
        let detail =
            "\(away.count) of \(fingers.count) enrolled with a reader that is not connected: \(names)."
        return away.count < fingers.count
            ? [.note("fingers elsewhere", detail)]
            : [
                .bad(
                    "fingers elsewhere",
                    detail,
                    remedy: "Connect that reader, or enroll a finger on the connected one."
                )
            ]
    }
}
