// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
import Foundation

/// What happens in an enrollment, for prompts and progress bars.
public enum EnrollmentProgress: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The presentations are done; one more touch confirms the print, and so many tries remain.
    case confirming(triesLeft: Int)
}

/// Enrolls and removes fingers: what the reader does and what the store keeps, in step.
///
/// Each call opens the reader and closes it again, also after an error.
public struct FingerEnroller: Sendable {
    /// How often the confirming touch may be of another finger.
    static let confirmations = 3

    let store: EnrollmentStore
    private let counter: any TouchCounter
    private let retryLimit: Int

    /// Works on a store.
    ///
    /// - Parameters:
    ///   - store: Where the prints go.
    ///   - counter: Counts the touches that are compared with enrolled fingers.
    ///   - retryLimit: How many presentations in a row may be unreadable; they cost nothing else.
    package init(store: EnrollmentStore, counter: any TouchCounter, retryLimit: Int = 20) {
        self.store = store
        self.counter = counter
        self.retryLimit = retryLimit
    }

    /// Refuses a finger's name that is taken on a reader, before anybody is asked for anything.
    ///
    /// - Throws: `fingerExists`, `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    public func refuseTaken(
        _ finger: Finger,
        profile: String,
        on reader: any FingerprintReader
    ) async throws(EnrollmentError) {
        let id = await reader.info.id
        let enrolled = try await store.fingers(of: profile)
        if enrolled.contains(where: { $0.finger == finger && $0.reader == id }) {
            throw EnrollmentError(.fingerExists(finger))
        }
    }

    /// Enrolls one finger, and checks with one more touch that it can be recognised.
    ///
    /// A finger of that name is refused before any touch. The confirming touch finds a finger that is enrolled
    /// under another name, and presses that were not of one finger, which libfprint does not compare. An enrollment
    /// that does not end well leaves nothing, neither in the store nor in the reader; where a reader that keeps
    /// prints was unplugged meanwhile, ``reconcile(profile:on:)`` deletes what it kept.
    ///
    /// Where a finger is enrolled or a passcode is set, the owner agrees first. That is looked at before the first touch, and
    /// again in the transaction that adds the finger. A confirming touch that matches no print is charged as a failed try.
    ///
    /// - Parameters:
    ///   - finger: The finger's name.
    ///   - label: Free text; at most 100 characters are kept.
    ///   - profile: Whose finger.
    ///   - reader: The reader; it need not be open.
    ///   - consent: The owner's consent to this finger; `nil` where nothing vouches for an owner yet.
    ///   - timeout: For how long each presentation is waited for.
    ///   - allowingSameFinger: Whether a finger may be enrolled a second time under another name.
    ///   - observer: Is told what happens, on the reader's own thread.
    /// - Returns: The finger, which is on the disk now.
    /// - Throws: `fingerExists`, `ownerNeeded`, `changedMeanwhile`, `lockedOut`, `duplicate`, `inconsistent`,
    ///   `tooManyRetries`, `timedOut`, `enrollmentTampered`, `enrollmentRolledBack`, `reader`, `store`. Cancelling gives `reader` with `cancelled`.
    public func enroll(
        _ finger: Finger,
        label: String? = nil,
        profile: String,
        on reader: any FingerprintReader,
        consent: OwnerConsent?,
        timeout: Duration = .seconds(60),
        allowingSameFinger: Bool = false,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(EnrollmentError) -> EnrolledFinger {
        try await refuseTaken(finger, profile: profile, on: reader)
        // Before the reader's turn, as an evaluation does it: two that wait for each other would wait for ever.
        let count = try await counter.begin(finger, on: await reader.info, within: timeout)
        try await store.requireConsent(to: .add(finger), by: consent, of: profile)
        return try await reader.whileOpen("enroll") { info throws(EnrollmentError) in
            let request = EnrollmentRequest(
                finger: finger,
                label: label,
                profile: profile,
                allowsSameFinger: allowingSameFinger,
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
    ) async throws(EnrollmentError) -> EnrolledFinger {
        let id = PrintID()
        let template = try await touches.stages(of: request).get()
        try await confirm(template, id, request, touches)
        return try await keep(template, id, request, touches)
    }

    /// The order is: intent, reader, store.
    ///
    /// Whatever ends the process in between, the intent tells the next one what the reader may have kept.
    private func enrollOnReader(
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(EnrollmentError) -> EnrolledFinger {
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

    /// What an earlier enrollment left, and the reader does not give up, keeps nobody from enrolling.
    private func finishInterruptedIfPossible(_ touches: EnrollmentTouches) async throws(EnrollmentError) {
        do {
            _ = try await finishInterrupted(on: touches.reader, touches.info)
        } catch {
            if case .store = error.code { throw error }
        }
    }

    private func confirm(
        _ template: Template,
        _ id: PrintID,
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(EnrollmentError) {
        // The gallery is read now: another process may have enrolled the finger meanwhile.
        let others = try await store.gallery(of: request.profile, on: touches.info.id)
        let entry = GalleryEntry(id: id, template: template)
        let match = try await touches.confirmation(of: entry, against: request.allowsSameFinger ? [] : others)
        guard match != id else { return }
        throw EnrollmentError(.duplicate(of: try await store.finger(match, of: request.profile)?.finger))
    }

    private func keep(
        _ template: Template,
        _ id: PrintID,
        _ request: EnrollmentRequest,
        _ touches: EnrollmentTouches
    ) async throws(EnrollmentError) -> EnrolledFinger {
        try await store.add(
            template,
            as: request.finger,
            label: request.label,
            profile: request.profile,
            on: touches.info,
            id: id,
            at: request.date,
            consent: request.consent
        )
    }
}

/// What is to be enrolled.
struct EnrollmentRequest: Sendable {
    let finger: Finger
    let label: String?
    let profile: String
    let allowsSameFinger: Bool
    let consent: OwnerConsent?
    let date: Date

    /// What the reader may write beside the print.
    var metadata: EnrollmentMetadata {
        EnrollmentMetadata(finger: finger, userName: profile, date: CalendarDate(date))
    }
}

extension CalendarDate {
    /// The day in UTC.
    init(_ date: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        self.init(year: parts.year ?? 1, month: parts.month ?? 1, day: parts.day ?? 1)
    }
}
