// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import WhorlFingerprint
package import WhorlService

/// Counts the touches that an enrollment compares with enrolled fingers, in the same way as evaluations count theirs.
///
/// Without the count, an attacker could use the last touch of an enrollment to test, without limit, whether a copied
/// finger passes for an enrolled one. The engine in `WhorlEngine` does the counting. This protocol only defines when it
/// happens.
package protocol TouchCounter: Sendable {
    /// Begins an enrollment. The profile's other evaluations and enrollments wait until the result is released.
    ///
    /// - Parameters:
    ///   - finger: The finger that is being enrolled, for the log.
    ///   - reader: The reader that is used.
    ///   - limit: The maximum time to wait for other evaluations and enrollments.
    /// - Returns: The counter for this enrollment's touches. Other evaluations and enrollments wait until it is
    ///   released.
    /// - Throws: `readerInUse` if others take longer than the limit, or a storage error.
    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(ServiceError) -> any CountedTouches
}

/// The counter for the touches of one enrollment.
///
/// A match does not reset the count, no matter which print it matches. Otherwise an attacker who alternates between a
/// copied finger and the one that is being enrolled would never be locked out.
package protocol CountedTouches: Sendable {
    /// Charges an attempt before its scan.
    ///
    /// - Throws: `biometryLockout` if no attempts are left, or a storage error.
    func reserve() async throws(ServiceError)

    /// Keeps the charge, because the touch did not match any of the prints that it was compared with.
    ///
    /// - Throws: `biometryLockout` if this was the last attempt, or a storage error.
    func charge() async throws(ServiceError)

    /// Refunds the charge, because the touch matched or had no result.
    func release() async
}

/// The touches of one enrollment, which are the reader's own stages followed by a confirming touch.
struct EnrollmentTouches: Sendable {
    let reader: any FingerprintReader
    let info: ReaderInfo
    let limits: ScanLimits
    let count: any CountedTouches
    let observer: @Sendable (EnrollmentProgress) -> Void

    /// Returns the template that the reader creates.
    ///
    /// The outcome can contain both a limit and a template (see ``ScanLimits/Outcome``). If the scans of a guided
    /// enrollment were too much alike, a second template is created once, unless the reader itself stores templates.
    /// The better of the two is returned.
    func stages(of request: EnrollmentRequest) async -> ScanLimits.Outcome<Template> {
        guard request.isGuided else { return await round(of: request, scan) }
        let first = EnrollmentGuide(info, observer)
        let outcome = await round(of: request, first.pass)
        guard info.storage == .host, first.isTooMuchAlike, (try? outcome.get()) != nil else { return outcome }
        observer(.again)
        let second = EnrollmentGuide(info, observer)
        let other = await round(of: request, second.pass)
        // An unfinished second round is a failure, as in the first round: the user may have left.
        guard (try? other.get()) != nil else { return other }
        return second.alike <= first.alike ? other : outcome
    }

    private func round(
        of request: EnrollmentRequest,
        _ scan: @escaping ScanObserver
    ) async -> ScanLimits.Outcome<Template> {
        await limits.run(observer: scan) { [reader] observer throws(ReaderError) in
            try await reader.enroll(request.metadata, whenBusy: .wait, observer: observer)
        }
    }

    /// Prompts for touches with a stored finger and reports how many of them were recognized.
    ///
    /// The test does not change anything. The finger stays enrolled, regardless of the result. The touches are compared
    /// only with the new print, so they do not reveal anything about other fingers and do not count as attempts. The
    /// test ends if the user does not touch the reader again.
    func test(_ new: GalleryEntry) async {
        let total = FingerEnroller.testTouches
        var (recognized, tested) = (0, 0)
        observer(.tested(recognized: recognized, tested: tested, total: total))
        while tested < total {
            do throws(ServiceError) {
                if try await readableTouch(of: new, against: []) == new.id { recognized += 1 }
            } catch {
                return  // the enrollment has already succeeded, and the touches so far were reported
            }
            limits.countGood()
            tested += 1
            observer(.tested(recognized: recognized, tested: tested, total: total))
        }
    }

    /// Prompts for one more touch and returns the print that it matches, which is the new one or one of the others.
    ///
    /// A touch that does not match any print may be repeated. Unreadable touches are not charged, up to a limit. If the
    /// touch is also compared with other prints, it is charged before its scan.
    ///
    /// - Throws: `inconsistent`, `tooManyRetries`, `timedOut`, `biometryLockout`, a storage error, or a reader's error
    ///   (also if a reader reports a print that it was not given).
    func confirmation(
        of new: GalleryEntry,
        against others: [GalleryEntry]
    ) async throws(ServiceError) -> PrintID {
        // A touch that is compared only with the new print reveals nothing about enrolled fingers.
        let isCounted = !others.isEmpty && info.features.contains(.identify)
        var triesLeft = FingerEnroller.confirmations
        limits.countGood()
        observer(.confirming(triesLeft: triesLeft))
        while true {
            if isCounted { try await count.reserve() }
            if let match = try await touch(of: new, against: others, isCounted: isCounted) { return match }
            limits.countGood()
            triesLeft -= 1
            if triesLeft == 0 { throw ServiceError(.inconsistent) }
            observer(.confirming(triesLeft: triesLeft))
        }
    }

    /// Prompts for one touch, which is repeated until it can be read, and returns `nil` if it does not match any print.
    private func touch(
        of new: GalleryEntry,
        against others: [GalleryEntry],
        isCounted: Bool
    ) async throws(ServiceError) -> PrintID? {
        let match: PrintID?
        do throws(ServiceError) {
            match = try await readableTouch(of: new, against: others)
        } catch {
            if isCounted { await count.release() }
            throw error
        }
        if isCounted {
            if match == nil { try await count.charge() } else { await count.release() }
        }
        return match
    }

    private func readableTouch(
        of new: GalleryEntry,
        against others: [GalleryEntry]
    ) async throws(ServiceError) -> PrintID? {
        while true {
            switch try await look(for: new, among: others) {
            case .match(let id, updated: _):
                guard id == new.id || others.contains(where: { $0.id == id }) else {
                    let lie = "a match with a print that it was not given"
                    throw ServiceError(ReaderError(.untrustworthy, operation: "identify", cause: lie))
                }
                return id
            case .retry(let reason):
                observer(.scan(.retry(reason)))
                if limits.countRetry() { throw ServiceError(.tooManyRetries) }
            case .noMatch:
                return nil
            }
        }
    }

    /// Compares the touch with the new print last, so that a finger that is already enrolled is found under its
    /// existing name.
    private func look(
        for new: GalleryEntry,
        among others: [GalleryEntry]
    ) async throws(ServiceError) -> IdentifyResult {
        guard info.features.contains(.identify) else {
            let result = try await limits.run(observer: scan) { [reader] observer throws(ReaderError) in
                try await reader.verify(new.template, whenBusy: .wait, observer: observer)
            }.get()
            return IdentifyResult(result, of: new.id)
        }
        return try await limits.run(observer: scan) { [reader] observer throws(ReaderError) in
            try await reader.identify(among: others + [new], whenBusy: .wait, observer: observer)
        }.get()
    }

    /// Returns a copy that has another time limit and has not counted any unreadable scans yet.
    func within(_ timeout: Duration) -> EnrollmentTouches {
        EnrollmentTouches(
            reader: reader,
            info: info,
            limits: ScanLimits(timeout: timeout, retryLimit: limits.retryLimit),
            count: count,
            observer: observer
        )
    }

    /// Reports the reader's events, except those that are only for guidance.
    private var scan: ScanObserver {
        { [observer] event in if event != .alike { observer(.scan(event)) } }
    }
}

extension IdentifyResult {
    /// Converts the result of a comparison with one print.
    init(_ result: VerifyResult, of id: PrintID) {
        switch result {
        case .match(let updated): self = .match(id, updated: updated)
        case .noMatch: self = .noMatch
        case .retry(let reason): self = .retry(reason)
        }
    }
}

/// Guides the user through the scans of an enrollment so that the template covers more than one part of the finger.
///
/// A guide is used for one round of scans. It reports which part of the finger to show, and counts the scans that
/// showed the same part again, which libfprint accepts anyway.
final class EnrollmentGuide: Sendable {
    private struct State {
        var completed = 0
        var alike = 0
        var asked: FingerArea?
    }

    private let hasAreas: Bool
    private let tell: @Sendable (EnrollmentProgress) -> Void
    private let state = Mutex(State())

    /// Creates a guide for a reader.
    ///
    /// For a swipe reader, there are no areas to show, because it sees the whole width of the finger.
    init(_ info: ReaderInfo, _ tell: @escaping @Sendable (EnrollmentProgress) -> Void) {
        hasAreas = info.scanType == .press
        self.tell = tell
    }

    /// Reports an event from the reader and, before a touch, also the part of the finger to show.
    func pass(_ event: ScanEvent) {
        switch event {
        case .touch:
            if let area = nextArea() { tell(.area(area)) }
        case .alike: state.withLock { $0.alike += 1 }
        case .stage(let completed, total: _): state.withLock { $0.completed = completed }
        case .finger, .retry: break
        }
        tell(.scan(event))
    }

    private func nextArea() -> FingerArea? {
        guard hasAreas else { return nil }
        return state.withLock { state in
            let area = FingerArea.area(ofPresentation: state.completed)
            defer { state.asked = area }
            return area == state.asked ? nil : area
        }
    }

    /// The number of scans that showed the same part as an earlier one.
    var alike: Int { state.withLock(\.alike) }

    /// Whether so many scans were alike that another round should create a better template.
    var isTooMuchAlike: Bool { state.withLock { $0.alike * 2 > $0.completed } }
}
