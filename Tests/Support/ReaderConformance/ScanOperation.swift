// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint

/// The operations that wait for a finger, so that one fault can be tried on each of them.
enum ScanOperation: String, CaseIterable, Sendable {
    case enroll, verify, identify, capture

    /// The feature that a reader needs for it.
    var feature: ReaderFeatures {
        switch self {
        case .enroll: []
        case .verify: .verify
        case .identify: .identify
        case .capture: .capture
        }
    }
}

/// What an operation gave.
enum ScanResult: Sendable, Equatable {
    case template(Template)
    case verification(VerifyResult)
    case identification(IdentifyResult)
    case picture(width: Int, height: Int)

    /// Whether a finger was read well.
    var isRetry: Bool {
        switch self {
        case .verification(.retry), .identification(.retry): true
        case .template, .picture, .verification, .identification: false
        }
    }
}

/// A reader that is open, its hand, and a print of finger 0.
struct Session: Sendable {
    let reader: any FingerprintReader
    let bench: any ReaderBench
    let entry: GalleryEntry?

    /// Starts an operation on the entry of finger 0.
    func run(_ operation: ScanOperation, whenBusy: BusyPolicy = .fail, _ log: EventLog) async throws
        -> ScanResult
    {
        defer { log.finish() }
        let observer = log.observer
        switch operation {
        case .enroll:
            let metadata = EnrollmentMetadata(finger: .leftRing)
            return .template(try await reader.enroll(metadata, whenBusy: whenBusy, observer: observer))
        case .verify:
            let template = try enrolled().template
            return .verification(try await reader.verify(template, whenBusy: whenBusy, observer: observer))
        case .identify:
            let gallery = [try enrolled()]
            return .identification(
                try await reader.identify(among: gallery, whenBusy: whenBusy, observer: observer)
            )
        case .capture:
            let image = try await reader.capture(whenBusy: whenBusy, observer: observer)
            return .picture(width: image.width, height: image.height)
        }
    }

    func enrolled() throws -> GalleryEntry {
        guard let entry else { throw ConformanceFailure(description: "the check has no enrolled print") }
        return entry
    }

    /// Runs an operation while the hand answers each request for a finger.
    ///
    /// The hand gets the number of the request, from 0; without one, finger 0 is laid on each time.
    func run(
        _ operation: ScanOperation,
        whenBusy: BusyPolicy = .fail,
        hand: (@Sendable (Int) async throws -> Void)? = nil
    ) async throws -> (result: ScanResult, log: EventLog) {
        let log = EventLog()
        let result = try await withDeadline(operation.rawValue) { [self] in
            async let result = run(operation, whenBusy: whenBusy, log)
            try await log.forEachTouch { count in
                if let hand { try await hand(count) } else { try await bench.present(0) }
            }
            return try await result
        }
        return (result, log)
    }

    /// Whether the reader still does its work, with a finger that is not in the reader yet where it enrolls.
    func requireUsable(after what: String) async throws {
        let features = await reader.info.features
        let operation =
            ScanOperation.allCases.first { $0 != .enroll && features.contains($0.feature) } ?? .enroll
        let bench = bench
        let (result, _) =
            entry == nil && operation != .capture
            ? try await run(.enroll) { _ in try await bench.present(2) } : try await run(operation)
        try require(!result.isRetry, "\(what): the reader is not usable afterwards, \(result)")
    }
}
