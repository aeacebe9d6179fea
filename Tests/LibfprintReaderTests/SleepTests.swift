// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Testing

@testable import WhorlLibfprint

/// Moments of a suspension that only the driver's side can arrange; the rest is in the conformance suite.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A suspension` {
    /// The driver says that the finger is there, and reports the match before it returns.
    ///
    /// With `fp_device_suspend()` alone libfprint hands that match on.
    @Test(arguments: ["verify", "identify"])
    func `in the moment when the finger is read lets no match out`(operation: String) async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let entry = GalleryEntry(id: PrintID(), template: try await bench.enroll(0))
            for _ in 1...20 {
                let (suspensions, suspending) = AsyncStream.makeStream(of: Task<Void, any Error>.self)
                await expectError(.suspended) {
                    try await bench.touching(reader, [.scan("finger-0")]) { touch in
                        let observer: ScanObserver = { event in
                            touch(event)
                            guard event == .finger(present: true) else { return }
                            // Observers are called on the reader's thread, where this begins before the driver ends.
                            suspending.yield(
                                reader.assumeIsolated { reader in Task { try await reader.suspend() } }
                            )
                        }
                        switch operation {
                        case "verify":
                            _ = try await reader.verify(entry.template, whenBusy: .fail, observer: observer)
                        default:
                            _ = try await reader.identify(among: [entry], whenBusy: .fail, observer: observer)
                        }
                    }
                }
                try await suspensions.first { _ in true }?.value
                try await reader.resume()
            }
            let result = try await bench.touching(reader, [.scan("finger-0")]) { observer in
                try await reader.verify(entry.template, whenBusy: .fail, observer: observer)
            }
            #expect(result == .match(updated: nil))
        }
    }

    /// libfprint looks at the picture and compares it in threads of its own meanwhile.
    @Test(arguments: [true, false])
    func `while a picture is compared lets no match out`(fingerIsThere: Bool) async throws {
        let bench = try VirtualImageBench()
        let reader = try #require(try await bench.reader() as? LibfprintReader)
        try await reader.open()
        let presses = PressesOnTouch(bench)
        let template = try await presses.answering { touch in
            try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail, observer: touch)
        }
        for _ in 1...5 {
            await expectError(.suspended) {
                _ = try await presses.answering { touch in
                    try await reader.verify(template, whenBusy: .fail) { event in
                        touch(event)
                        guard event == .finger(present: fingerIsThere) else { return }
                        reader.assumeIsolated { reader in _ = Task { try await reader.suspend() } }
                    }
                }
            }
            try await reader.resume()
        }
        let result = try await presses.answering { touch in
            try await reader.verify(template, whenBusy: .fail, observer: touch)
        }
        #expect(result == .match(updated: nil))
        try await reader.close()
        try await bench.tearDown()
    }

    /// What was no match before is counted as one; it must not be hidden by closing the lid.
    @Test func `in the moment when another finger is read does not hide that it did not match`() async throws
    {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            let result = try await bench.touching(reader, [.scan("finger-1")]) { touch in
                try await reader.verify(template, whenBusy: .fail) { event in
                    touch(event)
                    guard event == .finger(present: true) else { return }
                    reader.assumeIsolated { reader in _ = Task { try await reader.suspend() } }
                }
            }
            #expect(result == .noMatch)
        }
    }

    /// libfprint forgets a suspension that comes during a short operation: resuming then fails.
    @Test func `during an operation on the storage waits for it, and can be resumed`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            let listing = await listingThatTakesLong(reader)
            try await reader.suspend()
            #expect(try await listing.value.count == 1)
            await expectError(.suspended) { try await reader.delete(template, whenBusy: .wait) }
            try await reader.resume()
            try await bench.hand.say(.goOn)
            try await reader.delete(template, whenBusy: .fail)
        }
    }

    @Test func `amid an enrollment keeps nothing, and the finger enrolls afterwards`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            await expectError(.suspended) {
                _ = try await bench.touching(reader, [.scan("finger-0")]) { touch in
                    try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { event in
                        touch(event)
                        guard case .stage(completed: 3, total: _) = event else { return }
                        reader.assumeIsolated { reader in _ = Task { try await reader.suspend() } }
                    }
                }
            }
            #expect(try await bench.names() == [])
            try await reader.resume()
            _ = try await bench.enroll(0)
        }
    }

    @Test func `is not undone when the task that asks for it is cancelled`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let listing = await listingThatTakesLong(reader)
            let suspending = Task { try await reader.suspend() }
            suspending.cancel()
            try await suspending.value
            _ = try await listing.value
            await expectError(.suspended) { _ = try await reader.storedPrints(whenBusy: .fail) }
            try await reader.resume()
            _ = try await bench.enroll(0)
        }
    }

    /// Begins to list: without a command the driver waits for half a second.
    ///
    /// - Returns: The task, which has the reader.
    private func listingThatTakesLong(_ reader: LibfprintReader) async -> Task<[StoredPrint], any Error> {
        let listing = await begin(reader)
        // Jobs of an actor run in their order: the listing's first one has run before this.
        _ = await reader.fingerStatus
        return listing
    }

    private func begin(_ reader: isolated LibfprintReader) -> Task<[StoredPrint], any Error> {
        Task { try await reader.storedPrints(whenBusy: .fail) }
    }
}

/// A hand that presses finger 0 at each touch.
private struct PressesOnTouch {
    let bench: VirtualImageBench
    init(_ bench: VirtualImageBench) { self.bench = bench }

    func answering<Value: Sendable>(
        _ body: @escaping @Sendable (@escaping ScanObserver) async throws -> Value
    ) async throws -> Value {
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            defer { touched.finish() }
            return try await body { if $0 == .touch { touched.yield() } }
        }
        for await _ in touches { try await bench.present(0) }
        return try await running.value
    }
}
