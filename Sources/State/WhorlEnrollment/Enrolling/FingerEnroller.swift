// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
import FoundationEssentials
package import WhorlService

/// Enrolls and removes fingers, and keeps the readers and the store consistent.
///
/// Each call opens the reader and closes it again, even after an error.
package struct FingerEnroller: Sendable {
    /// The number of attempts for the confirming touch.
    static let confirmations = 3
    /// The number of touches that a guided enrollment uses to test how well the finger is recognized.
    static let testTouches = 3
    /// The maximum time to wait for a test touch.
    ///
    /// It is short because the finger is already stored.
    static let testTimeout = Duration.seconds(10)

    let store: EnrollmentStore
    private let counter: any TouchCounter
    private let retryLimit: Int

    /// Creates an enroller for a store.
    ///
    /// - Parameters:
    ///   - store: The store that contains the prints.
    ///   - counter: The counter for touches that are compared with enrolled fingers.
    ///   - retryLimit: The number of consecutive scans that may be unreadable. Unreadable scans do not count in any
    ///     other way.
    package init(store: EnrollmentStore, counter: any TouchCounter, retryLimit: Int = 20) {
        self.store = store
        self.counter = counter
        self.retryLimit = retryLimit
    }

    /// Rejects a finger name that is already in use on a reader, before the user is prompted for anything.
    ///
    /// - Throws: `fingerExists`, `enrollmentTampered`, `enrollmentRolledBack`, a storage error.
    package func refuseTaken(
        _ finger: Finger,
        profile: String,
        on reader: any FingerprintReader
    ) async throws(ServiceError) {
        let id = await reader.info.id
        let enrolled = try await store.fingers(of: profile)
        if enrolled.contains(where: { $0.finger == finger && $0.reader == id }) {
            throw ServiceError(.fingerExists, details: [.finger: finger.rawValue])
        }
    }

    /// Enrolls one finger and checks with one more touch that it can be recognized.
    ///
    /// A name that is already in use is rejected before any touch. The confirming touch detects a finger that is
    /// already enrolled under another name. It also detects scans of different fingers, which libfprint does not
    /// compare with each other. A failed enrollment leaves nothing behind in the store or the reader. If a reader that
    /// stores prints was unplugged during the enrollment, ``reconcile(profile:on:)`` deletes the print that it stored.
    ///
    /// If a finger is enrolled or a passcode is set, the owner must agree first. The consent is checked before the
    /// first touch and again in the transaction that adds the finger. A confirming touch that does not match any print
    /// is charged as a failed attempt.
    ///
    /// - Parameters:
    ///   - finger: The finger's name.
    ///   - label: Free text, of which at most 100 characters are stored.
    ///   - profile: The profile to enroll the finger for.
    ///   - reader: The reader, which does not have to be open.
    ///   - consent: The owner's consent to this finger, or `nil` if no finger is enrolled and no passcode is set.
    ///   - timeout: The time limit for each scan.
    ///   - isGuided: Whether the user is guided (see ``NewFinger/isGuided``).
    ///   - observer: A function that receives the events on the reader's own thread.
    /// - Returns: The finger as it was stored on disk.
    /// - Throws: `fingerExists`, `ownerNeeded`, `changedMeanwhile`, `biometryLockout`, `duplicate`, `inconsistent`,
    ///   `tooManyRetries`, `timedOut`, `enrollmentTampered`, `enrollmentRolledBack`, a reader's error, or a storage
    ///   error. If the task is cancelled, this is a reader's error with `cancelled`.
    package func enroll(
        _ finger: Finger,
        label: String? = nil,
        profile: String,
        on reader: any FingerprintReader,
        consent: OwnerConsent?,
        timeout: Duration = .seconds(60),
        isGuided: Bool = false,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(ServiceError) -> EnrolledFinger {
        try await refuseTaken(finger, profile: profile, on: reader)
        // Do this before taking the reader's turn, in the same order as an evaluation: otherwise the two could
        // deadlock.
        let count = try await counter.begin(finger, on: await reader.info, within: timeout)
        try await store.requireConsent(to: .add(finger), by: consent, of: profile)
        return try await reader.whileOpen("enroll") { info throws(ServiceError) in
            let request = EnrollmentRequest(
                finger: finger,
                label: label,
                profile: profile,
                isGuided: isGuided,
                consent: consent,
                date: Date()
            )
            let touches = EnrollmentTouches(
                reader: reader,
                info: info,
                limits: ScanLimits(timeout: timeout, retryLimit: retryLimit),
                count: count,
                observer: observer
            )
            switch info.storage {
            case .host: return try await enrollOnHost(request, touches)
            case .reader: return try await enrollOnReader(request, touches)
            }
        }
    }

    private func enrollOnHost(
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(ServiceError) -> EnrolledFinger {
        let id = PrintID()
        let template = try await touches.stages(of: request).get()
        try await confirm(template, id, request, touches)
        return try await keep(template, id, request, touches)
    }

    /// Enrolls a finger by first recording the intent, then enrolling on the reader, and finally adding the print to
    /// the store.
    ///
    /// If the process exits in between, the next process can see from the intent which print the reader may have
    /// stored.
    private func enrollOnReader(
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(ServiceError) -> EnrolledFinger {
        try await finishInterruptedIfPossible(touches)
        let id = PrintID()
        let kept = try await touches.reader.listed(touches.info)?.map(\.template)
        let intent = try await store.beginIntent(
            id,
            request.finger,
            profile: request.profile,
            on: touches.info,
            besides: kept,
            at: request.date
        )
        let outcome = await touches.stages(of: request)
        do {
            let template = try outcome.get()
            try await confirm(template, id, request, touches)
            return try await keep(template, id, request, touches)
        } catch {
            await undo(intent, made: try? outcome.result.get(), on: touches.reader, touches.info)
            throw error
        }
    }

    /// Completes interrupted work.
    ///
    /// Prints that the reader cannot delete do not prevent an enrollment.
    private func finishInterruptedIfPossible(_ touches: EnrollmentTouches) async throws(ServiceError) {
        do {
            _ = try await finishInterrupted(on: touches.reader, touches.info)
        } catch {
            if [.storage, .chipUnavailable].contains(error.category) { throw error }
        }
    }

    private func confirm(
        _ template: Template,
        _ id: PrintID,
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(ServiceError) {
        // Read the gallery now, because another process may have enrolled the finger since the enrollment began.
        let others = try await store.gallery(of: request.profile, on: touches.info.id)
        let entry = GalleryEntry(id: id, template: template)
        let match = try await touches.confirmation(of: entry, against: others)
        guard match != id else { return }
        let finger = try await store.finger(match, of: request.profile)?.finger
        throw ServiceError(.duplicate, details: finger.map { [.finger: $0.rawValue] } ?? [:])
    }

    private func keep(
        _ template: Template,
        _ id: PrintID,
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(ServiceError) -> EnrolledFinger {
        // A device node that was opened during the enrollment counts as open.
        let access = touches.info.access.state.and(await touches.reader.info.access.state)
        let enrolled = try await store.add(
            template,
            as: request.finger,
            label: request.label,
            profile: request.profile,
            on: touches.info,
            id: id,
            at: request.date,
            access: access,
            consent: request.consent
        )
        if request.isGuided {
            let entry = GalleryEntry(id: id, template: template)
            await touches.within(min(touches.limits.timeout, FingerEnroller.testTimeout)).test(entry)
        }
        return enrolled
    }
}

/// The finger to enroll and the options.
struct EnrollmentRequest: Sendable {
    let finger: Finger
    let label: String?
    let profile: String
    let isGuided: Bool
    let consent: OwnerConsent?
    let date: Date

    /// The metadata that the reader may store with the print.
    var metadata: EnrollmentMetadata {
        EnrollmentMetadata(finger: finger, userName: profile, date: CalendarDate(date))
    }
}

extension CalendarDate {
    /// Creates the calendar date of a point in time, in UTC.
    init(_ date: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        self.init(year: parts.year ?? 1, month: parts.month ?? 1, day: parts.day ?? 1)
    }
}
