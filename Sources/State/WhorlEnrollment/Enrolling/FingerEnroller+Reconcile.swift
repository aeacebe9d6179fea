// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
import FoundationEssentials
package import WhorlService

extension FingerEnroller {
    /// Completes interrupted enrollments and removals on a reader, and compares the reader's prints with those in the
    /// store.
    ///
    /// It does nothing for a reader that does not store prints.
    ///
    /// - Parameters:
    ///   - profile: The profile whose fingers are compared. Interrupted work is completed for every profile.
    ///   - reader: The reader, which does not have to be open.
    /// - Returns: The number of deleted prints and the remaining differences between the reader and the store.
    /// - Throws: A reader's error, a storage error, `enrollmentTampered`, `enrollmentRolledBack`.
    package func reconcile(
        profile: String,
        on reader: any FingerprintReader
    ) async throws(ServiceError) -> ReaderReconciliation {
        try await reader.whileOpen("reconcile") { info throws(ServiceError) in
            guard info.storage == .reader else {
                return ReaderReconciliation(finished: 0, strays: [], missing: [], isListed: false)
            }
            let finished = try await finishInterrupted(on: reader, info)
            guard let stored = try await reader.listed(info) else {
                return ReaderReconciliation(finished: finished, strays: [], missing: [], isListed: false)
            }
            let ours = try await store.kept(by: info.id)
            var strays: [EnrollmentMetadata] = []
            for print in stored where await !reader.holds(print.template, in: ours.compactMap(\.template)) {
                strays.append(print.metadata)
            }
            var missing: [EnrolledFinger] = []
            for entry in try await store.gallery(of: profile, on: info.id) {
                if await reader.holds(entry.template, in: stored.map(\.template)) { continue }
                if let finger = try await store.finger(entry.id, of: profile) { missing.append(finger) }
            }
            return ReaderReconciliation(finished: finished, strays: strays, missing: missing, isListed: true)
        }
    }

    /// Deletes the prints that interrupted enrollments and removals left in an open reader.
    ///
    /// - Returns: The number of prints that were deleted.
    /// - Throws: The first error, after trying all deletions. Those that failed stay unfinished.
    func finishInterrupted(
        on reader: any FingerprintReader,
        _ info: ReaderInfo
    ) async throws(ServiceError) -> Int {
        var deleted = 0
        var failure: ServiceError?
        for print in try await store.unfinished(on: info.id) {
            do throws(ServiceError) {
                deleted += try await finish(print, on: reader, info)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return deleted
    }

    private func finish(
        _ print: UnfinishedPrint,
        on reader: any FingerprintReader,
        _ info: ReaderInfo
    ) async throws(ServiceError) -> Int {
        switch print.kind {
        case .removing(let template):
            // Without its template, a print cannot be identified to the reader, and stays there as a stray.
            let deleted = if let template { try await reader.deleteIfThere(template) } else { false }
            try await store.finishRemoval(print.row.id)
            return deleted ? 1 : 0
        case .pending(.exactly(let template)):
            let deleted = try await reader.deleteIfThere(template)
            try await store.dropIntent(print.row.id)
            return deleted ? 1 : 0
        case .pending(.besides(let kept?)):
            let deleted = try await deleteLeftover(of: print.row, besides: kept, on: reader, info)
            try await store.dropIntent(print.row.id)
            return deleted
        case .pending(.besides(nil)), .pending(nil):
            // The reader cannot list its prints, or the intent cannot be read: the print cannot be identified.
            try await store.dropIntent(print.row.id)
            return 0
        }
    }

    /// Deletes the print that the reader has stored since the enrollment began, if the print's metadata names the
    /// profile.
    ///
    /// A print that has no user name, or that has metadata contradicting this enrollment, is left alone, because
    /// another user of the machine may have enrolled it since then.
    private func deleteLeftover(
        of row: PrintRow,
        besides kept: [Template],
        on reader: any FingerprintReader,
        _ info: ReaderInfo
    ) async throws(ServiceError) -> Int {
        let ours = try await store.kept(by: info.id)
        guard ours.allSatisfy({ $0.template != nil }) else {
            throw ServiceError(.enrollmentTampered, cause: "a template of reader \(info.id)")
        }
        var deleted = 0
        for print in try await reader.listed(info) ?? [] where row.mayHaveLeft(print.metadata) {
            if await reader.holds(print.template, in: ours.compactMap(\.template) + kept) { continue }
            if try await reader.deleteIfThere(print.template) { deleted += 1 }
        }
        return deleted
    }

    /// Deletes the print that a failed enrollment created, and the enrollment's intent.
    ///
    /// This function completes even if the task is cancelled. If it fails, the intent stays, and the next
    /// reconciliation deletes the print.
    func undo(
        _ intent: PrintRow,
        made template: Template?,
        on reader: any FingerprintReader,
        _ info: ReaderInfo
    ) async {
        // A separate task is not cancelled with the caller's. It may run on the shared pool, because no caller blocks
        // one of the pool's threads while it waits for an enrollment.
        await Task { () async in
            // If the enrollment is no longer pending, the print was stored after all.
            guard (try? await store.isPending(intent.id)) == true else { return }
            if let template {
                if (try? await store.narrowIntent(intent, to: template)) == nil { return }
            }
            let all = (try? await store.unfinished(on: info.id)) ?? []
            guard let mine = all.first(where: { $0.row.id == intent.id }) else { return }
            _ = try? await finish(mine, on: reader, info)
        }.value
    }
}

extension PrintRow {
    /// Returns whether a print with this metadata may come from this enrollment.
    ///
    /// A missing finger or date counts as equal.
    fileprivate func mayHaveLeft(_ metadata: EnrollmentMetadata) -> Bool {
        let date = CalendarDate(Date(timeIntervalSince1970: enrolledAt))
        return (metadata.finger ?? finger) == finger && metadata.userName == profile
            && (metadata.date ?? date) == date
    }
}
