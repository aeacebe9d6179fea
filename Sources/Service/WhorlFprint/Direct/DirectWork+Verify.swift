// SPDX-License-Identifier: Apache-2.0

internal import LibfprintReader
internal import WhorlFingerprint

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
