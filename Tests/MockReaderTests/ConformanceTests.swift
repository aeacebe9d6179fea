// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import MockReader
import ReaderConformance
import Testing

/// A mock with each kind of storage, under the checks that every reader has to pass.
@Suite(.timeLimit(.minutes(10)))
struct ConformanceTests {
    @Test(arguments: ReaderConformance.checks)
    func `a mock that leaves the prints to the host keeps a reader's promises`(check: ConformanceCheck)
        async throws
    {
        let skipped = try await check.run(on: MockBench("stages=3"))
        #expect(skipped == nil || check.name.contains("in the reader") || check.name.contains("cleared"))
    }

    @Test(arguments: ReaderConformance.checks)
    func `a mock that keeps the prints itself keeps a reader's promises`(check: ConformanceCheck) async throws
    {
        let skipped = try await check.run(on: MockBench("stages=2,storage=reader"))
        #expect(skipped == nil || check.name.contains("capture") || check.name.contains("picture"))
    }

    @Test func `a mock without a feature says that it cannot do it`() async throws {
        let reader = try MockReader(script: "features=verify")
        try await reader.open()
        await #expect(throws: ReaderError(.unsupported, operation: "identify")) {
            _ = try await reader.identify(among: [], whenBusy: .fail) { _ in }
        }
        await #expect(throws: ReaderError(.unsupported, operation: "list")) {
            _ = try await reader.storedPrints(whenBusy: .fail)
        }
    }
}

/// A hand that plays steps on a mock.
struct MockBench: ReaderBench {
    let mock: MockReader

    init(_ script: String) throws { mock = try MockReader(script: script) }

    var abilities: BenchAbilities { [.unreadable, .unplug] }
    func reader() -> any FingerprintReader { mock }
    func present(_ finger: Int) { mock.play(.touch(.finger(Finger.allCases[finger]))) }
    func presentUnreadable() { mock.play(.retry(.tooShort)) }
    func unplug() { mock.unplug() }
}
