// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import ReaderConformance
import Synchronization
import Testing

@testable import WhorlLibfprint

/// libfprint's virtual readers that compare by themselves, behind the reader protocol.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A virtual reader without images` {
    @Test(arguments: ReaderConformance.checks)
    func `keeps the promises of every reader, without a storage`(check: ConformanceCheck) async throws {
        let skipped = try await check.run(on: VirtualDeviceBench(.plain))
        let cannot = ["capture", "picture", "identif", "in the reader", "cleared"]
        #expect(skipped == nil || cannot.contains { check.name.contains($0) }, "\(check): \(skipped ?? "")")
    }

    @Test(arguments: ReaderConformance.checks)
    func `keeps the promises of every reader, with a storage`(check: ConformanceCheck) async throws {
        let skipped = try await check.run(on: VirtualDeviceBench(.storage))
        let cannot = ["capture", "picture"]
        #expect(skipped == nil || cannot.contains { check.name.contains($0) }, "\(check): \(skipped ?? "")")
    }

    @Test func `is found by each of the calls that ask for the first time at once`() async throws {
        let bench = try VirtualDeviceBench(.plain)
        let counts = try await VirtualEnvironment.shared.with(bench.driver.variable, bench.hand.path) {
            [source = bench.source]
            () async throws(ReaderError) in
            await withTaskGroup { calls in
                for _ in 0..<20 { calls.addTask { (try? await source.readers())?.count } }
                return await calls.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(counts == Array(repeating: 1, count: 20))
        try await bench.tearDown()
    }

    @Test func `is said to be virtual, with what its driver can do and no more`() async throws {
        try await withVirtualDevice(.plain) { _, reader in
            let info = await reader.info
            #expect(info.kind == .virtual)
            #expect(info.strength == .none)
            #expect(info.features == .verify)
            #expect(info.storage == .host)
            #expect(info.scanType == .swipe)
            #expect(info.enrollStages == 5)
        }
        try await withVirtualDevice(.storage) { _, reader in
            let info = await reader.info
            #expect(info.kind == .virtual)
            #expect(info.strength == .none)
            #expect(
                info.features == [
                    .identify, .verify, .storage, .storageList, .storageDelete, .storageClear,
                    .duplicatesCheck,
                ]
            )
            #expect(info.storage == .reader)
        }
    }

    @Test(arguments: VirtualDeviceBench.Driver.allCases)
    func `tells of a stage count and a scan type that its driver changes`(driver: VirtualDeviceBench.Driver)
        async throws
    {
        try await withVirtualDevice(driver) { bench, reader in
            try await bench.hand.say(.stages(3))
            try await bench.hand.say(.scanType("press"))
            #expect(await reader.info.enrollStages == 3)
            #expect(await reader.info.scanType == .press)
            let log = Mutex<[ScanEvent]>([])
            _ = try await bench.touching(reader, [.scan("finger-0")]) { observer in
                try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { event in
                    log.withLock { $0.append(event) }
                    observer(event)
                }
            }
            #expect(log.withLock { $0.count { $0 == .touch } } == 3)
            #expect(log.withLock { $0.contains(.stage(completed: 3, total: 3)) })
        }
    }

    @Test func `tells when a finger comes and goes`() async throws {
        try await withVirtualDevice(.plain) { bench, reader in
            let template = try await bench.enroll(0)
            let (events, told) = AsyncStream.makeStream(of: ScanEvent.self)
            let verifying = Task {
                defer { told.finish() }
                return try await reader.verify(template, whenBusy: .fail) { told.yield($0) }
            }
            var seen: [ScanEvent] = []
            for await event in events {
                seen.append(event)
                switch event {
                case .touch: try await bench.hand.say(.finger(true))
                case .finger(present: true) where seen.count == 2: try await bench.hand.say(.finger(false))
                case .finger(present: false) where seen.count == 3: try await bench.present(0)
                default: break
                }
            }
            #expect(try await verifying.value == .match(updated: nil))
            #expect(Array(seen.prefix(3)) == [.touch, .finger(present: true), .finger(present: false)])
            #expect(seen.count { $0 == .touch } == 1)
        }
    }
}
