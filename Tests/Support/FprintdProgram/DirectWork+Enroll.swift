// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlGLib
import WhorlLibfprint
import WhorlFingerprint
import WhorlFprint
import WhorlSystem

extension DirectWork {
    func enroll(
        _ finger: Finger,
        _ user: String,
        _ report: StatusReport,
        _ begun: @escaping @Sendable () -> Void
    ) async {
        // A reader that could not begin has told its status.
        defer { begun() }
        await makeRoom(for: finger, user)
        let metadata = EnrollmentMetadata(finger: finger, userName: user, date: .today)
        let known = allPrints.map(\.template)
        if features.contains(.identify) {
            guard await isNew(among: known, report, begun) else { return }
            report.tell(.stagePassed)
        }
        report.tell(await enrolled(metadata, report, begun))
    }

    /// Deletes the finger's former print, and what a reader that lists nothing keeps of people who have no print here.
    private func makeRoom(for finger: Finger, _ user: String) async {
        if prints.fingers(of: user, on: key).contains(finger) {
            if features.contains(.storage), let former = prints.template(finger, of: user, on: key) {
                // A print that stays in the reader is found there by the identification.
                try? await reader.deleteDirectly(former)
            }
            _ = removed(finger, of: user)
        }
        guard features.isSuperset(of: [.storage, .storageClear]), !features.contains(.storageList),
            allPrintsForCertain()?.isEmpty ?? false
        else { return }
        // A reader that does not clear its storage may have room all the same.
        try? await reader.clearDirectly()
    }

    /// Returns whether no user has the finger, and answers when the reader has begun; otherwise the status that ends the enrollment was told.
    private func isNew(
        among known: [Template],
        _ report: StatusReport,
        _ begun: @escaping @Sendable () -> Void
    ) async -> Bool {
        while true {
            do throws(DirectFailure) {
                let found = try await reader.identifyDirectly(known, begun: begun) { _ in }
                if found.match != nil {
                    report.tell(.duplicate)
                    return false
                }
                guard features.contains(.storage), let stranger = found.scanned else { return true }
                return await isDeleted(stranger, report)
            } catch {
                if error.kind == .printNotFound { return true }
                report.tell(.enroll(Task.isCancelled ? .cancelled : error.kind))
                guard case .retry = error.kind, !Task.isCancelled else { return false }
            }
        }
    }

    /// Deletes a print from the reader that no user here has; returns whether it is gone.
    private func isDeleted(_ stranger: Template, _ report: StatusReport) async -> Bool {
        guard let ours = allPrintsForCertain(), !ours.contains(where: { isSame($0, stranger) }) else {
            report.tell(.duplicate)
            return false
        }
        do throws(DirectFailure) {
            try await reader.deleteDirectly(stranger)
            return true
        } catch {
            report.tell(error.kind == .cancelled ? .failed : .duplicate)
            return false
        }
    }

    /// Returns the status that ends the enrollment, and answers when the reader has begun, where that was not done yet.
    private func enrolled(
        _ metadata: EnrollmentMetadata,
        _ report: StatusReport,
        _ begun: @escaping @Sendable () -> Void
    ) async -> FprintStatus {
        while true {
            do throws(DirectFailure) {
                let template = try await reader.enrollDirectly(metadata, begun: begun) {
                    [weak self] stage in
                    self?.assumeIsolated { $0.hear(stage, report) }
                }
                return Task.isCancelled ? .failed : saved(template, metadata)
            } catch {
                if error.kind == .storageFull, await madeRoomInReader() { continue }
                if Task.isCancelled { return .failed }
                guard case .retry = error.kind else { return .enroll(error.kind) }
                report.tell(.enroll(error.kind))
            }
        }
    }

    /// Deletes a print that no user here has, whole or not at all, also when the enrollment is cancelled in between.
    private func madeRoomInReader() async -> Bool {
        await Task(executorPreference: GLibTaskExecutor.shared) { await self.deleteUnknownFromReader() }.value
    }

    private func saved(_ template: Template, _ metadata: EnrollmentMetadata) -> FprintStatus {
        guard let finger = metadata.finger, let user = metadata.userName else { return .failed }
        do {
            try prints.save(template, finger, of: user, on: key)
            return .completed
        } catch {
            log("The new print could not be written: \(error)")
            return .failed
        }
    }

    private func hear(_ stage: Result<Int, DirectFailure>, _ report: StatusReport) {
        switch stage {
        case .success(let completed):
            // The last one is told with the end; a reader may change their number as late as at the first.
            if completed < reader.assumeIsolated({ $0.info.enrollStages }) { report.tell(.stagePassed) }
        case .failure(let failure):
            // Other failures come again as the end.
            if case .retry = failure.kind { report.tell(.enroll(failure.kind)) }
        }
    }
}

extension CalendarDate {
    /// The present day in UTC.
    fileprivate static var today: CalendarDate {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: Date())
        return CalendarDate(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0)
    }
}
