// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The touches of one enrollment: the reader's own stages, then one that confirms.
struct EnrollmentTouches: Sendable {
    let reader: any FingerprintReader
    let info: ReaderInfo
    let limits: ScanLimits
    let count: any CountedTouches
    let observer: @Sendable (EnrollmentProgress) -> Void

    /// The template that the reader makes.
    ///
    /// The outcome can hold both a limit and a template: see ``ScanLimits/Outcome``.
    func stages(of request: EnrollmentRequest) async -> ScanLimits.Outcome<Template> {
        await limits.run(observer: scan) { [reader] observer throws(ReaderError) in
            try await reader.enroll(request.metadata, whenBusy: .wait, observer: observer)
        }
    }

    /// Asks for one more touch and returns the print that it matches: the new one or one of the others.
    ///
    /// A touch that matches no print may be repeated; an unreadable one costs nothing, until there are too many. If the
    /// touch is also compared with other prints, it is charged before its scan.
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

    /// Asks for one touch, repeated until it can be read; returns `nil` when it matches no print.
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

    /// Compares with the new print last, so that a finger that is already enrolled is found under its existing name.
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
    /// Converts the result of a comparison with one print.
    init(_ result: VerifyResult, of id: PrintID) {
        switch result {
        case .match(let updated): self = .match(id, updated: updated)
        case .noMatch: self = .noMatch
        case .retry(let reason): self = .retry(reason)
        }
    }
}
