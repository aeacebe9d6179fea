// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlFingerprint
import WhorlRemote
import WhorlService

/// The output of `whorl` without a command: the reader, fingers, service and TPM in four lines, and the next step.
///
/// It does not prompt or create anything, and does not wait for any part longer than `patience`.
struct Overview: Sendable {
    /// The maximum time to wait for all parts.
    private static let patience = Duration.milliseconds(350)

    private let services: Services
    private let place: ServicePlace

    init(_ session: Session) {
        services = session.services
        place = session.place
    }

    func answer() async -> Answer {
        let deadline = ContinuousClock.now + Self.patience
        async let reader = Self.value(by: deadline) { try await readerNames() }
        async let fingers = Self.value(by: deadline) { try await services.ask(ListFingers()) }
        async let vault = Self.value(by: deadline) { try await services.ask(ReadVaultStatus()) }
        let parts = await Parts(readers: reader, fingers: fingers, vault: vault)
        return Answer(
            result: [
                "readers": parts.readers.value.map { .strings($0) },
                "fingers": parts.fingers.value.map { .strings($0.map(\.finger.rawValue)) },
                "service": .string(place.rawValue),
                "tpm": parts.vault.value.map { .string(Self.words(for: $0)) },
                "next": .string(parts.nextStep),
            ],
            text: [
                "Reader:   " + parts.readers.words { $0.isEmpty ? "none found" : $0.joined(separator: ", ") },
                "Fingers:  "
                    + parts.fingers.words {
                        $0.isEmpty ? "none enrolled" : $0.map(\.finger.spokenName).joined(separator: ", ")
                    },
                "Service:  " + serviceWords(parts),
                "TPM:      " + parts.vault.words(Self.words(for:)),
                "", "Next: \(parts.nextStep)    (all commands: whorl --help)",
            ]
        )
    }

    private func readerNames() async throws -> [String] {
        var names: [String] = []
        for reader in try await services.readers.readers() { names.append(await reader.info.name) }
        return names
    }

    private func serviceWords(_ parts: Parts) -> String {
        guard place == .system else { return "not in use; whorl works without it" }
        return switch parts.fingers {
        case .value: "running"
        case .failure(let failure) where failure.code != ServiceError.Code.serviceUnavailable.rawValue:
            "running"
        case .failure, .late: "not responding"
        }
    }

    private static func words(for status: VaultStatus) -> String {
        guard let chip = status.chip else { return "not available" }
        let name = status.isSimulated ? "simulated" : chip.manufacturer
        return status.isProvisioned ? "\(name), protects your data" : "\(name), nothing stored yet"
    }
}

extension Overview {
    /// The state of one part.
    fileprivate enum Part<Value: Sendable>: Sendable {
        case value(Value)
        case failure(Failure)
        case late

        var value: Value? { if case .value(let value) = self { value } else { nil } }

        func words(_ text: (Value) -> String) -> String {
            switch self {
            case .value(let value): text(value)
            case .failure(let failure): "unknown: " + failure.message
            case .late: "unknown: no answer yet"
            }
        }
    }

    fileprivate struct Parts {
        let readers: Part<[String]>
        let fingers: Part<[EnrolledFinger]>
        let vault: Part<VaultStatus>

        /// The next command to run.
        var nextStep: String {
            guard let readers = readers.value, !readers.isEmpty, let fingers = fingers.value else {
                return "whorl doctor"
            }
            return fingers.isEmpty
                ? "whorl enroll right-index-finger" : "whorl evaluate --reason \"try it out\""
        }
    }

    /// Returns the result of an operation, or `late` if it has not ended by a deadline.
    private static func value<Value: Sendable>(
        by deadline: ContinuousClock.Instant,
        _ work: @escaping @Sendable () async throws -> Value
    ) async -> Part<Value> {
        await withCheckedContinuation { continuation in
            let first = First(continuation)
            Task {
                do { first.take(.value(try await work())) } catch { first.take(.failure(Failure(error))) }
            }
            Task {
                // Nothing cancels this wait; if something did, the part would be late too early.
                try? await Task.sleep(until: deadline)
                first.take(.late)
            }
        }
    }

    /// The first of two results; the other one is dropped.
    private final class First<Value: Sendable>: Sendable {
        private let continuation: Mutex<CheckedContinuation<Part<Value>, Never>?>

        init(_ continuation: CheckedContinuation<Part<Value>, Never>) {
            self.continuation = Mutex(continuation)
        }

        func take(_ part: Part<Value>) {
            let waiting = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            waiting?.resume(returning: part)
        }
    }
}
