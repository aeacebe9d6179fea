// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint

// The fault table: each operation that waits for a finger, with each thing that can go wrong.
extension ReaderConformance {
    static let faults: [ConformanceCheck] = ScanOperation.allCases.flatMap(faults)

    private static func faults(of operation: ScanOperation) -> [ConformanceCheck] {
        cancellation(of: operation) + [
            unreadable(operation), unplugged(operation), busyFailing(operation), busyWaiting(operation),
            closing(operation), suspended(operation),
        ]
    }

    static func check(
        _ operation: ScanOperation,
        _ promise: String,
        needs: BenchAbilities = [],
        _ body: @escaping @Sendable (Session) async throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck(
            "\(operation): \(promise)",
            needs: needs,
            features: operation.feature,
            entry: operation == .verify || operation == .identify,
            body
        )
    }

    private static func cancellation(of operation: ScanOperation) -> [ConformanceCheck] {
        [
            check(operation, "cancelled before it begins, it throws and the reader is usable") { session in
                let running = Task {
                    // The cancellation below must come first.
                    while !Task.isCancelled { await Task.yield() }
                    return try await session.run(operation, EventLog())
                }
                running.cancel()
                try await requireError(.cancelled, "cancelled before") {
                    _ = try await withDeadline("cancel before") { try await running.value }
                }
                try await session.requireUsable(after: "cancel before")
            },
            check(operation, "cancelled while it waits, it throws and the reader is usable") { session in
                for round in 1...3 {
                    let log = EventLog()
                    let running = Task { try await session.run(operation, log) }
                    try await log.nextTouch()
                    running.cancel()
                    try await requireError(.cancelled, "cancelled while it waits, round \(round)") {
                        _ = try await withDeadline("cancel during") { try await running.value }
                    }
                }
                try await session.requireUsable(after: "cancel during")
            },
        ]
    }

    private static func unreadable(_ operation: ScanOperation) -> ConformanceCheck {
        check(operation, "an unreadable press is a retry, never an answer", needs: .unreadable) { session in
            let bench = session.bench
            let (result, log) = try await session.run(operation) { count in
                if count == 0 { try await bench.presentUnreadable() } else { try await bench.present(0) }
            }
            switch operation {
            case .verify, .identify:
                try require(result.isRetry, "expected a retry, found \(result)")
                try requireEqual(log.count(.touch), 1, "requests for a finger")
                let told = log.events.count { if case .retry = $0 { true } else { false } }
                try requireEqual(told, 1, "retry events")
            case .enroll:
                try require(log.count(.touch) > 1, "it asks again")
            case .capture:
                break
            }
            try requireEqual(log.events.first, .touch, "the first event")
            try await session.requireUsable(after: "retry")
        }
    }

    private static func unplugged(_ operation: ScanOperation) -> ConformanceCheck {
        check(operation, "unplugged while it waits, it throws, and so does the next one", needs: .unplug) {
            session in
            let log = EventLog()
            let running = Task { try await session.run(operation, log) }
            try await log.nextTouch()
            try await session.bench.unplug()
            try await requireError(.unplugged, "unplugged") {
                _ = try await withDeadline("unplug") { try await running.value }
            }
            try await requireError(.unplugged, "the next one") {
                _ = try await withDeadline("unplug") { try await session.run(operation, EventLog()) }
            }
            try await requireError(.unplugged, "opening it") { try await session.reader.open() }
        }
    }

    private static func busyFailing(_ operation: ScanOperation) -> ConformanceCheck {
        check(operation, "it is told at once that another one runs, and that one goes on") { session in
            let log = EventLog()
            let bench = session.bench
            let running = Task { try await session.run(.enroll, log) }
            try await log.nextTouch()
            try await requireError(.busy, "the second one") {
                _ = try await withDeadline("busy") {
                    try await session.run(operation, whenBusy: .fail, EventLog())
                }
            }
            // Finger 0 may be in the reader already, which may refuse to enroll it again.
            try await bench.present(1)
            try await log.forEachTouch { _ in try await bench.present(1) }
            _ = try await withDeadline("the first one") { try await running.value }
        }
    }

    private static func busyWaiting(_ operation: ScanOperation) -> ConformanceCheck {
        check(operation, "it waits its turn behind another one") { session in
            let (firstLog, secondLog) = (EventLog(), EventLog())
            let first = Task { try await session.run(.enroll, firstLog) }
            try await firstLog.nextTouch()
            let second = Task { try await session.run(operation, whenBusy: .wait, secondLog) }
            let abandoned = Task { try await session.run(operation, whenBusy: .wait, EventLog()) }
            abandoned.cancel()
            try await requireError(.cancelled, "one that gives up waiting") {
                _ = try await withDeadline("giving up") { try await abandoned.value }
            }
            try requireEqual(secondLog.events, [], "events of the one that waits")
            first.cancel()
            try await requireError(.cancelled, "the first one") {
                _ = try await withDeadline("the first one") { try await first.value }
            }
            try await secondLog.nextTouch()
            try await session.bench.present(0)
            try await secondLog.forEachTouch { _ in try await session.bench.present(0) }
            _ = try await withDeadline("the second one") { try await second.value }
        }
    }

    private static func closing(_ operation: ScanOperation) -> ConformanceCheck {
        check(operation, "closing waits for it to end") { session in
            let log = EventLog()
            let running = Task { try await session.run(operation, log) }
            try await log.nextTouch()
            let closing = Task { try await session.reader.close() }
            try await session.bench.present(0)
            try await log.forEachTouch { _ in try await session.bench.present(0) }
            let result = try await withDeadline("the operation") { try await running.value }
            try require(!result.isRetry, "the operation ends as if nobody closed, found \(result)")
            try await withDeadline("closing") { try await closing.value }
            try await requireError(.notOpen, "afterwards") {
                _ = try await session.run(operation, EventLog())
            }
        }
    }
}
