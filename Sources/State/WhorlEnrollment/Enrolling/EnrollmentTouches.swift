// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import WhorlFingerprint
package import WhorlService

/// Counts the touches that an enrollment compares with enrolled fingers, as evaluations count theirs.
///
/// Without it, an attacker could use the last touch of an enrollment to test, without limit, whether a copied finger
/// passes for an enrolled one. The engine of `WhorlEngine` counts; this protocol only says when.
package protocol TouchCounter: Sendable {
    /// Begins an enrollment; the profile's other evaluations and enrollments wait until the result is released.
    ///
    /// - Parameters:
    ///   - finger: The finger that is enrolled, for the log.
    ///   - reader: The reader that is used.
    ///   - limit: How long to wait for others.
    /// - Returns: The counter of this enrollment's touches; it holds the others off while it lives.
    /// - Throws: `readerInUse` when others go on for longer; a storage error.
    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(ServiceError) -> any CountedTouches
}

/// The counted touches of one enrollment.
///
/// A match does not reset the count, whichever print it matches: otherwise an attacker who alternates a copied finger
/// with the one that is being enrolled would never be locked out.
package protocol CountedTouches: Sendable {
    /// Charges a try before its scan.
    ///
    /// - Throws: `biometryLockout` when no try is left; a storage error.
    func reserve() async throws(ServiceError)

    /// Keeps the charge: the touch matched none of the prints that it was compared with.
    ///
    /// - Throws: `biometryLockout` when it was the last one; a storage error.
    func charge() async throws(ServiceError)

    /// Takes the charge back: the touch matched, or gave no answer.
    func release() async
}

/// The touches of one enrollment: the reader's own stages, then one that confirms.
struct EnrollmentTouches: Sendable {
    let reader: any FingerprintReader
    let info: ReaderInfo
    let limits: ScanLimits
    let count: any CountedTouches
    let observer: @Sendable (EnrollmentProgress) -> Void

    /// The template that the reader makes.
    ///
    /// The outcome can hold both a limit and a template: see ``ScanLimits/Outcome``. With guidance, a template of presses
    /// that were too much alike is dropped once, unless the reader itself keeps it; the better one of two is returned.
    func stages(of request: EnrollmentRequest) async -> ScanLimits.Outcome<Template> {
        guard request.isGuided else { return await round(of: request, scan) }
        let first = EnrollmentGuide(info, observer)
        let outcome = await round(of: request, first.pass)
        guard info.storage == .host, first.isTooMuchAlike, (try? outcome.get()) != nil else { return outcome }
        observer(.again)
        let second = EnrollmentGuide(info, observer)
        let other = await round(of: request, second.pass)
        // A second round that was not finished is a failure as the first would be: the user may have gone.
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

    /// Asks for touches of a finger that is stored, and tells how many of them were recognized.
    ///
    /// They change nothing: the finger stays, whatever their result is. They are compared with the new print alone, so
    /// they say nothing about another finger, and are not counted as tries. A touch that does not come ends them.
    func test(_ new: GalleryEntry) async {
        let total = FingerEnroller.testTouches
        var (recognized, tested) = (0, 0)
        observer(.tested(recognized: recognized, tested: tested, total: total))
        while tested < total {
            do throws(ServiceError) {
                if try await readableTouch(of: new, against: []) == new.id { recognized += 1 }
            } catch {
                return  // the enrollment has succeeded already, and the touches so far are told
            }
            limits.countGood()
            tested += 1
            observer(.tested(recognized: recognized, tested: tested, total: total))
        }
    }

    /// Asks for one more touch and returns the print that it matches: the new one or one of the others.
    ///
    /// A touch that matches no print may be repeated; an unreadable one costs nothing, until there are too many. If the
    /// touch is also compared with other prints, it is charged before its scan.
    ///
    /// - Throws: `inconsistent`, `tooManyRetries`, `timedOut`, `biometryLockout`, a storage error, a reader's error (also for a reader that
    ///   names a print it was not given).
    func confirmation(
        of new: GalleryEntry,
        against others: [GalleryEntry]
    ) async throws(ServiceError) -> PrintID {
        // A touch that is compared with the new print alone says nothing about an enrolled finger.
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

    /// Asks for one touch, repeated until it can be read; returns `nil` when it matches no print.
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

    /// Compares with the new print last, so that a finger that is already enrolled is found under its existing name.
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

    /// Returns the same with another time limit, and with no unreadable presentation counted yet.
    func within(_ timeout: Duration) -> EnrollmentTouches {
        EnrollmentTouches(
            reader: reader,
            info: info,
            limits: ScanLimits(timeout: timeout, retryLimit: limits.retryLimit),
            count: count,
            observer: observer
        )
    }

    /// Tells the reader's events, without those that only guidance is for.
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

/// Guides a person through the presentations of an enrollment, so that the template knows more than one part of the
/// finger.
///
/// One guide serves one round of presentations. It tells which part of the finger to show, and counts the presentations
/// that showed the same part again; libfprint takes them all the same.
final class EnrollmentGuide: Sendable {
    private struct State {
        var completed = 0
        var alike = 0
        var asked: FingerArea?
    }

    private let hasAreas: Bool
    private let tell: @Sendable (EnrollmentProgress) -> Void
    private let state = Mutex(State())

    /// Creates a guide for a reader; one over which the finger is drawn sees all of its width anyway.
    init(_ info: ReaderInfo, _ tell: @escaping @Sendable (EnrollmentProgress) -> Void) {
        hasAreas = info.scanType == .press
        self.tell = tell
    }

    /// Tells an event of the reader, and before a touch the part of the finger that it is to show.
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

    /// The number of presentations that showed the same part as an earlier one.
    var alike: Int { state.withLock(\.alike) }

    /// Whether so many presentations were alike that another round makes a better template.
    var isTooMuchAlike: Bool { state.withLock { $0.alike * 2 > $0.completed } }
}
