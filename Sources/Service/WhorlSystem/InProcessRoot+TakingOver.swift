// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import WhorlEngine
internal import WhorlEnrollment
internal import WhorlFingerprint
internal import WhorlLibfprint
package import WhorlService

extension InProcessRoot {
    /// The name under which the importing program appears in the log.
    private static let importer = ApplicationID(rawValue: "whorl import-fprintd")

    /// Imports prints that another program created into the profile, on behalf of the administrator.
    ///
    /// Prints can be imported only into a profile without fingers and a passcode, whose owner cannot be recognized yet.
    /// Prints that are not imported are not changed.
    ///
    /// - Parameters:
    ///   - prints: The prints.
    ///   - isTrial: Whether this is a dry run, which does not change anything.
    ///   - readersWereClosed: Whether the administrator confirms that only root could open the readers until now.
    /// - Returns: The result for each print, in the same order.
    /// - Throws: `ownerNeeded` if a finger is enrolled or a passcode is set; `enrollmentTampered`,
    ///   `enrollmentRolledBack` or a storage error.
    package func takeOver(
        _ prints: [ForeignPrint],
        isTrial: Bool,
        readersWereClosed: Bool
    ) async throws(ServiceError) -> [ImportOutcome] {
        try await requireNoOwner()
        var outcomes: [ImportOutcome] = []
        for print in prints {
            let (outcome, saved) = await outcome(of: print, readersWereClosed)
            outcomes.append(outcome)
            guard let saved, outcome == .taken, !isTrial else { continue }
            try await enroll(print, saved)
        }
        return outcomes
    }

    private func requireNoOwner() async throws(ServiceError) {
        do throws(ServiceError) {
            _ = try await engine.consentOfAccount(to: .remove(.all), for: Self.importer) { isFirst in isFirst
            }
        } catch {
            guard error.code == .notPermitted else { throw error }
            throw ServiceError(.ownerNeeded)
        }
    }

    private func outcome(
        of print: ForeignPrint,
        _ readersWereClosed: Bool
    ) async -> (ImportOutcome, SavedPrint?) {
        guard let saved = await LibfprintSource.shared.saved(print.template) else {
            return (.unreadable, nil)
        }
        guard saved.driver == print.driver, saved.number == print.number,
            saved.metadata.finger == print.finger, saved.metadata.userName == profile
        else { return (.elsewhere, nil) }
        let info = await LibfprintSource.shared.info(ofReaderOf: saved)
        guard choice.allowsPretended || info.kind == .hardware else { return (.pretended, nil) }
        guard readersWereClosed || info.storage == .host else { return (.unvouched, nil) }
        return (.taken, saved)
    }

    private func enroll(_ print: ForeignPrint, _ saved: SavedPrint) async throws(ServiceError) {
        let consent = try await engine.consentOfAccount(
            to: .add(print.finger),
            for: Self.importer
        ) { _ in true }
        _ = try await engine.state.createdStore().add(
            print.template,
            as: print.finger,
            label: nil,
            profile: profile,
            on: await LibfprintSource.shared.info(ofReaderOf: saved),
            at: saved.metadata.date.flatMap(\.start) ?? Date(),
            // The administrator vouches for a print in a reader.
            access: .closed,
            consent: consent
        )
    }
}

extension CalendarDate {
    /// The beginning of the day in UTC; `nil` for an invalid date.
    fileprivate var start: Date? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: DateComponents(year: year, month: month, day: day))
    }
}
