// SPDX-License-Identifier: Apache-2.0

internal import GLibRuntime
internal import LibfprintReader
internal import WhorlFingerprint

extension FprintDevice {
    /// The prints with which one presentation is compared.
    private enum Comparison {
        case one(Template)
        case several([Template])
    }

    func startVerification(_ client: String, _ name: String, _ reply: BusReply) async throws(FprintError) {
        try state.requireHeld(by: client)
        try await require(.verify, client)
        try state.requireHeld(by: client)
        try state.requireIdle()
        let (comparison, selected) = try comparison(for: name)
        try state.begin(.verify)
        operation = Operation()
        reply.answer()
        bus.emit("VerifyFingerSelected", of: FprintInterface.device, at: path, [.text(selected)])
        operation.task = Task(executorPreference: GLibTaskExecutor.shared) { await self.verify(comparison) }
    }

    /// Returns the prints for a finger's name, which may be anything, and the name that the person is told.
    private func comparison(for name: String) throws(FprintError) -> (Comparison, String) {
        let prints = usablePrints(of: state.holder?.user ?? "")
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

    private func verify(_ comparison: Comparison) async {
        while true {
            operation.isRetryTold = false
            do throws(DirectFailure) {
                let isMatch = try await matches(comparison)
                tell(isMatch && !Task.isCancelled ? .match : .noMatch)
                if !isMatch, !hasComparedStorage { await forgetPrintsUnknownToReader() }
                return
            } catch {
                if case .retry = error.kind, !operation.isReported, !Task.isCancelled {
                    if !operation.isRetryTold { tell(.verify(error.kind)) }
                    continue
                }
                if error.kind == .printNotFound { await forgetPrintsUnknownToReader() }
                return tell(Task.isCancelled ? .noMatch : .verify(error.kind))
            }
        }
    }

    private func matches(_ comparison: Comparison) async throws(DirectFailure) -> Bool {
        let task = operation.task
        let hear: @Sendable (DirectReport) -> Void = { [weak self] report in
            self?.assumeIsolated { $0.hear(report, isCancelled: task?.isCancelled ?? false) }
        }
        switch comparison {
        case .one(let template): return try await reader.verifyDirectly(template, report: hear)
        case .several(let templates):
            return try await reader.identifyDirectly(templates, report: hear).match != nil
        }
    }

    /// Takes in what the driver says before the operation has ended.
    private func hear(_ report: DirectReport, isCancelled: Bool) {
        guard !isCancelled, !operation.isReported else { return }
        switch report {
        case .match: tell(.match)
        case .noMatch: tell(.noMatch)
        case .retry(let reason):
            operation.isRetryTold = true
            tell(.verify(.retry(reason)))
        }
    }

    private func tell(_ status: FprintStatus) {
        // Whatever the reader says after the end is not told.
        guard !operation.isReported else { return }
        operation.isReported = status.isDone
        let parts: [BusContent] = [.text(status.word), .flag(status.isDone)]
        bus.emit("VerifyStatus", of: FprintInterface.device, at: path, parts)
    }
}
