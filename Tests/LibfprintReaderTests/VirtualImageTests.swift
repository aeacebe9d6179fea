// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import ReaderConformance
import Synchronization
import SyntheticFingers
import Testing

@testable import WhorlLibfprint

/// libfprint's own detector and matcher behind the reader protocol.
@Suite(.serialized) struct `The virtual image reader` {
    @Test(arguments: ReaderConformance.checks)
    func `keeps the promises of every reader`(check: ConformanceCheck) async throws {
        try await check.run(on: VirtualImageBench())
    }

    @Test func `is said to be virtual, with images and no storage`() async throws {
        let bench = try VirtualImageBench()
        let info = try await bench.reader().info
        #expect(info.kind == .virtual)
        #expect(info.storage == .host)
        #expect(info.features.isSuperset(of: [.capture, .identify, .verify]))
        #expect(info.enrollStages == 5)
        #expect(info.strength == .none)
        try await bench.tearDown()
    }

    @Test func `gives a picture pixel for pixel`() async throws {
        let bench = try VirtualImageBench()
        let reader = try await bench.reader()
        try await reader.open()
        let press = SyntheticFinger(seed: 3).press(0)
        async let captured = reader.capture(whenBusy: .wait, observer: { _ in })
        try await bench.send(.press(press))
        let image = try await captured
        #expect(image.width == press.width && image.height == press.height)
        #expect(image.pixels == press.pixels)
        try await reader.close()
        try await bench.tearDown()
    }

    /// A large picture takes long to analyze, as any picture does on a busy machine.
    @Test func `asks for the next press only after the last one was analyzed, however long that takes`()
        async throws
    {
        let bench = try VirtualImageBench()
        let reader = try await bench.reader()
        try await reader.open()
        let press = SyntheticFinger(seed: SyntheticFinger.testSeeds[0]).press(0)
        let side = 3000
        var pixels = [UInt8](repeating: 255, count: side * side)
        for row in 0..<press.height {
            let start = row * press.width
            pixels.replaceSubrange(
                row * side..<row * side + press.width,
                with: press.pixels[start..<start + press.width]
            )
        }
        let large = try #require(GrayImage(width: side, height: side, pixels: pixels))
        let events = Mutex<[ScanEvent]>([])
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        let enrolling = Task {
            try await reader.enroll(
                EnrollmentMetadata(),
                whenBusy: .wait,
                observer: { event in
                    events.withLock { $0.append(event) }
                    if event == .touch { touched.yield() }
                }
            )
        }
        var asked = touches.makeAsyncIterator()
        await asked.next()
        try await bench.send(.press(large))
        await asked.next()
        enrolling.cancel()
        _ = await enrolling.result
        let told = events.withLock(\.self)
        let ended = told.firstIndex { event in
            switch event {
            case .stage, .retry: true
            default: false
            }
        }
        #expect(try told.prefix(#require(ended)).count { $0 == .touch } == 1, "\(told)")
        try await reader.close()
        try await bench.tearDown()
    }

    /// Enrolls presses of one finger, and returns the number of those that are told to show a part again.
    private func alikePresses(_ presses: [GrayImage]) async throws -> Int {
        let bench = try VirtualImageBench()
        let reader = try await bench.reader()
        try await reader.open()
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        let alike = Mutex(0)
        async let enrolled = reader.enroll(
            EnrollmentMetadata(),
            whenBusy: .wait,
            observer: { event in
                if event == .touch { touched.yield() }
                if event == .alike { alike.withLock { $0 += 1 } }
            }
        )
        var asked = touches.makeAsyncIterator()
        for press in presses {
            await asked.next()
            try await bench.send(.press(press))
        }
        _ = try await enrolled
        try await reader.close()
        try await bench.tearDown()
        return alike.withLock(\.self)
    }

    @Test func `tells presses of an enrollment that show the same part of the finger`() async throws {
        let finger = SyntheticFinger(seed: SyntheticFinger.testSeeds[0])
        let one = finger.press(0, quality: .careful)
        #expect(try await alikePresses(Array(repeating: one, count: 5)) == 4)
        // The same press, seen by a smaller sensor in other places.
        let places = [(40, 56), (40, 6), (6, 56), (74, 56), (40, 106)]
        let parts = try places.map { left, top in
            var pixels: [UInt8] = []
            for row in top..<top + 144 {
                pixels += one.pixels[row * one.width + left..<row * one.width + left + 112]
            }
            return try #require(GrayImage(width: 112, height: 144, pixels: pixels))
        }
        #expect(try await alikePresses(parts) == 0)
    }

    @Test func `refuses a gallery with a template that is none, instead of saying "no match"`() async throws {
        let bench = try VirtualImageBench()
        let reader = try await bench.reader()
        try await reader.open()
        let bad = GalleryEntry(id: PrintID(), template: Template(bytes: Array("not a template".utf8)))
        await #expect(throws: ReaderError.self) {
            _ = try await reader.identify(among: [bad], whenBusy: .wait, observer: { _ in })
        }
        try await reader.close()
        try await bench.tearDown()
    }

    @Test func `cannot be opened twice by two readers of one socket, and the second is told by whom`()
        async throws
    {
        let bench = try VirtualImageBench()
        let first = try await bench.reader()
        try await first.open()
        let other = LibfprintSource()
        let second = try await VirtualEnvironment.shared.with("FP_VIRTUAL_IMAGE", bench.socket) {
            () async throws(ReaderError) in try await other.readers()
        }
        let error = await #expect(throws: ReaderError.self) { try await second.first?.open() }
        #expect(error?.code == .inUse)
        #expect(error?.cause.contains("process") == true)
        try await first.close()
        try await second.first?.open()
        try await second.first?.close()
        try await bench.tearDown()
    }

    @Test func `tells whoever watches that it was unplugged`() async throws {
        let bench = try VirtualImageBench()
        let reader = try await bench.reader()
        let changes = await bench.source.changes()
        try await reader.open()
        let attempt = Task { _ = try await reader.capture(whenBusy: .wait, observer: { _ in }) }
        try await bench.unplug()
        let error = await #expect(throws: ReaderError.self) { try await attempt.value }
        #expect(error?.code == .unplugged)
        let id = await reader.info.id
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == .removed(id), "it is told while the reader is open")
        #expect(try await bench.source.readers().isEmpty)
        try await reader.close()
        try await bench.tearDown()
    }
}
