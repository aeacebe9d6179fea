// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import WhorlLibfprint
import WhorlFingerprint
import WhorlFprint
import WhorlSystem

/// The work as fprintd does it: with the calls of libfprint that fprintd makes, and prints in a store of files.
actor DirectWork: DeviceWork {
    nonisolated let reader: LibfprintReader
    nonisolated let prints: PrintStore
    /// Takes sentences for the log.
    nonisolated let log: @Sendable (String) -> Void
    /// Whether the reader's storage was compared with the prints here.
    var hasComparedStorage = false
    /// Whether the failure of the present attempt to verify was told already.
    var isRetryTold = false

    init(_ reader: LibfprintReader, prints: PrintStore, log: @escaping @Sendable (String) -> Void) {
        self.reader = reader
        self.prints = prints
        self.log = log
    }

    /// The GLib thread.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// libfprint's stages, and the touch that looks whether somebody has the finger already.
    nonisolated var stages: Int {
        let info = reader.assumeIsolated { $0.info }
        return info.enrollStages + (info.features.contains(.identify) ? 1 : 0)
    }

    var isBusyWhileDeleting: Bool { features.contains(.storage) }

    func open() async throws(FprintError) {
        do throws(DirectFailure) {
            try await reader.openDirectly()
        } catch {
            throw .internal("Open failed with error: \(error.cause)")
        }
    }

    func close() async throws(FprintError) {
        do throws(DirectFailure) {
            try await reader.closeDirectly()
        } catch {
            throw .internal("Release failed with error: \(error.cause)")
        }
    }

    func enrolledFingers(of user: String) -> [Finger] { usablePrints(of: user).map(\.finger) }

    func deletableFingers(of user: String) -> [Finger] { prints.fingers(of: user, on: key) }

    func enrollment(
        of finger: Finger,
        for user: String,
        isOthers: Bool,
        _ asking: Asking,
        begun: @escaping @Sendable () -> Void
    ) -> Scan {
        { report in await self.enroll(finger, user, report, begun) }
    }

    func verification(of name: String, for user: String) throws(FprintError) -> (told: String, Scan) {
        let (comparison, told) = try comparison(for: name, user)
        return (told, { report in await self.verify(comparison, report) })
    }

    func deletion(
        of fingers: [Finger],
        for user: String,
        _ asking: Asking,
        isClaimed: @escaping @Sendable () -> Bool
    ) -> Deletion {
        { () async throws(FprintError) in try await self.delete(fingers, of: user, isClaimed) }
    }
}

extension DirectWork {
    /// The prints with which one presentation is compared.
    enum Comparison {
        case one(Template)
        case several([Template])
    }

    /// Returns the prints for a finger's name, which may be anything, and the name that the person is told.
    func comparison(for name: String, _ user: String) throws(FprintError) -> (Comparison, told: String) {
        let prints = usablePrints(of: user)
        if let finger = Finger(rawValue: name) {
            guard let print = prints.first(where: { $0.finger == finger }) else { throw .noEnrolledPrints }
            return (.one(print.template), finger.rawValue)
        }
        guard let first = prints.first else { throw .noEnrolledPrints }
        guard prints.count > 1, features.contains(.identify) else {
            return (.one(first.template), first.finger.rawValue)
        }
        return (.several(prints.map(\.template)), "any")
    }

    func verify(_ comparison: Comparison, _ report: StatusReport) async {
        while true {
            isRetryTold = false
            do throws(DirectFailure) {
                let isMatch = try await matches(comparison, report)
                report.tell(isMatch && !Task.isCancelled ? .match : .noMatch)
                if !isMatch, !hasComparedStorage { await forgetPrintsUnknownToReader() }
                return
            } catch {
                if case .retry = error.kind, !report.hasEnded, !Task.isCancelled {
                    if !isRetryTold { report.tell(.verify(error.kind)) }
                    continue
                }
                if error.kind == .printNotFound { await forgetPrintsUnknownToReader() }
                return report.tell(Task.isCancelled ? .noMatch : .verify(error.kind))
            }
        }
    }

    private func matches(
        _ comparison: Comparison,
        _ report: StatusReport
    ) async throws(DirectFailure) -> Bool {
        let hear: @Sendable (DirectReport) -> Void = { [weak self] said in
            self?.assumeIsolated { $0.hear(said, report) }
        }
        switch comparison {
        case .one(let template): return try await reader.verifyDirectly(template, report: hear)
        case .several(let templates):
            return try await reader.identifyDirectly(templates, report: hear).match != nil
        }
    }

    /// Takes in what the driver says before the operation has ended.
    private func hear(_ said: DirectReport, _ report: StatusReport) {
        guard !report.isCancelled, !report.hasEnded else { return }
        switch said {
        case .match: report.tell(.match)
        case .noMatch: report.tell(.noMatch)
        case .retry(let reason):
            isRetryTold = true
            report.tell(.verify(.retry(reason)))
        }
    }
}
