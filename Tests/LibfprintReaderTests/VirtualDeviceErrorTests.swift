// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization
import Testing

@testable import WhorlLibfprint

/// What a driver reports, as libfprint hands it on.
private let errors: [(number: Int, code: ReaderError.Code)] = [
    (0, .malfunction),  // FP_DEVICE_ERROR_GENERAL
    (1, .unsupported),  // …_NOT_SUPPORTED
    (2, .notOpen),  // …_NOT_OPEN
    (3, .malfunction),  // …_ALREADY_OPEN
    (4, .busy),  // …_BUSY
    (5, .malfunction),  // …_PROTO
    (6, .templateInvalid),  // …_DATA_INVALID
    (7, .printNotFound),  // …_DATA_NOT_FOUND
    (8, .storageFull),  // …_DATA_FULL
    (9, .duplicate),  // …_DATA_DUPLICATE
    (0x100, .unplugged),  // …_REMOVED
    (0x101, .tooHot),  // …_TOO_HOT
    (99, .malfunction),  // no number of libfprint's
]

private let retries: [(number: Int, reason: ScanRetry)] = [
    (0, .general), (1, .tooShort), (2, .centerFinger), (3, .removeFinger), (99, .general),
]

/// Each number that a driver can report, through the real libfprint and back.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `What a driver reports` {
    @Test(arguments: errors)
    func `is told as this error by each operation`(number: Int, code: ReaderError.Code) async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let hand = bench.hand
            let template = try await bench.enroll(0)
            let gallery = [GalleryEntry(id: PrintID(), template: template)]
            try await hand.say(.error(number))
            await expectError(code, "verify") {
                _ = try await reader.verify(template, whenBusy: .fail, observer: { _ in })
            }
            try await hand.say(.error(number))
            await expectError(code, "identify") {
                _ = try await reader.identify(among: gallery, whenBusy: .fail, observer: { _ in })
            }
            try await hand.say(.error(number))
            await expectError(code, "enroll") {
                _ = try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail, observer: { _ in })
            }
            try await hand.say(.error(number))
            await expectError(code, "list") { _ = try await reader.storedPrints(whenBusy: .fail) }
            try await hand.say(.error(number))
            await expectError(code, "delete") { try await reader.delete(template, whenBusy: .fail) }
            try await hand.say(.error(number))
            await expectError(code, "clear") { try await reader.clearStorage(whenBusy: .fail) }
            #expect(try await bench.names() == ["finger-0"], "nothing was stored or deleted")
        }
    }

    @Test(arguments: errors)
    func `ends an enrollment at any stage, and nothing of it is kept`(number: Int, code: ReaderError.Code)
        async throws
    {
        try await withVirtualDevice(.storage) { bench, reader in
            for stages in 0..<5 {
                let commands =
                    Array(repeating: VirtualDeviceHand.Command.scan("finger-1"), count: stages)
                    + [.error(number)]
                await expectError(code, "after \(stages) stages") {
                    _ = try await bench.touching(reader, commands) { observer in
                        try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail, observer: observer)
                    }
                }
            }
            #expect(try await bench.names() == [])
            _ = try await bench.enroll(1)
        }
    }

    @Test(arguments: retries)
    func `is told as this reason to try again, and is no answer`(number: Int, reason: ScanRetry) async throws
    {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            let told = Mutex<[ScanEvent]>([])
            let observer: ScanObserver = { event in
                if case .retry = event { told.withLock { $0.append(event) } }
            }
            try await bench.hand.say(.retry(number))
            #expect(try await reader.verify(template, whenBusy: .fail, observer: observer) == .retry(reason))
            let gallery = [GalleryEntry(id: PrintID(), template: template)]
            try await bench.hand.say(.retry(number))
            #expect(
                try await reader.identify(among: gallery, whenBusy: .fail, observer: observer)
                    == .retry(reason)
            )
            let scan = VirtualDeviceHand.Command.scan("finger-1")
            _ = try await bench.touching(reader, [scan, .retry(number), scan]) { touch in
                try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { event in
                    observer(event)
                    touch(event)
                }
            }
            #expect(told.withLock { $0 } == Array(repeating: .retry(reason), count: 3))
        }
    }

    /// Another finger amid an enrollment is a retry to this driver.
    @Test func `is a retry when another finger comes amid an enrollment`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let told = Mutex<[ScanEvent]>([])
            let commands = [VirtualDeviceHand.Command.scan("finger-0"), .scan("finger-1"), .scan("finger-0")]
            _ = try await bench.touching(reader, commands) { touch in
                try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { event in
                    told.withLock { $0.append(event) }
                    touch(event)
                }
            }
            #expect(told.withLock { $0.count { $0 == .retry(.general) } } == 1)
            #expect(told.withLock { $0.count { $0 == .touch } } == 6)
            #expect(try await bench.names() == ["finger-0"])
        }
    }

    /// The driver goes on as if nothing had been said, reads the right finger, and reports a match.
    @Test func `is no match when the driver does not hear that the task was cancelled`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            try await bench.hand.say(.hearsCancellation(false))
            let (touches, touched) = AsyncStream.makeStream(of: Void.self)
            let verifying = Task {
                try await reader.verify(template, whenBusy: .fail) { if $0 == .touch { touched.yield() } }
            }
            _ = await touches.first { _ in true }
            verifying.cancel()
            try await bench.present(0)
            await expectError(.cancelled) { _ = try await verifying.value }
        }
    }
}
