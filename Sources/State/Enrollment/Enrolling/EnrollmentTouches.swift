// SPDX-License-Identifier: Apache-2.0

import Fingerprint

/// The touches of one enrollment: the reader's own stages, then one that confirms.
struct EnrollmentTouches: Sendable {
    let reader: any FingerprintReader
    let info: ReaderInfo
    let limits: ScanLimits
    let count: any CountedTouches
    let observer: @Sendable (EnrollmentProgress) -> Void

    /// The template that the reader makes.
    ///
    /// Both a limit and a template can come out: see ``ScanLimits/Outcome``.
    func stages(of request: EnrollmentRequest) async -> ScanLimits.Outcome<Template> {
        await limits.run(observer: scan) { [reader] observer throws(ReaderError) in
            try await reader.enroll(request.metadata, whenBusy: .wait, observer: observer)
        }
    }

    /// Whose print one more touch is: the new one's or one of the others'.
    ///
    /// A touch that is nobody's may be repeated; an unreadable one costs nothing, until there are too many. Where others
    /// are compared with, each touch is charged before its scan.
    ///
    /// - Throws: `inconsistent`, `tooManyRetries`, `timedOut`, `lockedOut`, `store`, `reader` (also for a reader that
    ///   names a print it was not given).
    func confirmation(
        of new: GalleryEntry,
        against others: [GalleryEntry]
    ) async throws(EnrollmentError) -> PrintID {
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
            if triesLeft == 0 { throw EnrollmentError(.inconsistent) }
            observer(.confirming(triesLeft: triesLeft))
        }
    }

    /// One touch, repeated until it can be read; `nil` when it is nobody's.
    private func touch(
        of new: GalleryEntry,
        against others: [GalleryEntry],
        isCounted: Bool
    ) async throws(EnrollmentError) -> PrintID? {
        let match: PrintID?
        do throws(EnrollmentError) {
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
    ) async throws(EnrollmentError) -> PrintID? {
        while true {
            switch try await look(for: new, among: others) {
            case .match(let id, updated: _):
                guard id == new.id || others.contains(where: { $0.id == id }) else {
                    let lie = "a match with a print that it was not given"
                    throw EnrollmentError(
                        .reader(ReaderError(.untrustworthy, operation: "identify", cause: lie))
                    )
                }
                return id
            case .retry(let reason):
                observer(.scan(.retry(reason)))
                if limits.countRetry() { throw EnrollmentError(.tooManyRetries) }
            case .noMatch:
                return nil
            }
        }
    }

    /// The new print is last: a finger that is enrolled already is found as what it is.
    private func look(
        for new: GalleryEntry,
        among others: [GalleryEntry]
    ) async throws(EnrollmentError) -> IdentifyResult {
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

    private var scan: ScanObserver {
        { [observer] event in observer(.scan(event)) }
    }
}

extension IdentifyResult {
    /// What a comparison with one print says.
    init(_ result: VerifyResult, of id: PrintID) {
        switch result {
        case .match(let updated): self = .match(id, updated: updated)
        case .noMatch: self = .noMatch
        case .retry(let reason): self = .retry(reason)
        }
    }
}
