// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint

// What a reader does when the system goes to sleep.
extension ReaderConformance {
    static let sleeping: [ConformanceCheck] = [
        ConformanceCheck("suspended while idle, nothing begins until it is resumed") { session in
            let reader = session.reader
            try await reader.suspend()
            try await reader.suspend()
            try await requireNothingBegins(session)
            try await reader.resume()
            try await reader.resume()
            try await session.requireUsable(after: "suspending while idle")
        },
        ConformanceCheck("a suspended reader can be closed, and opens when it is resumed") { session in
            let reader = session.reader
            try await reader.suspend()
            try await withDeadline("closing") { try await reader.close() }
            try await requireError(.suspended, "opening") { try await reader.open() }
            try await reader.resume()
            try await reader.open()
            try await session.requireUsable(after: "closing while suspended")
        },
        ConformanceCheck("a reader that was unplugged says so when it is suspended", needs: .unplug) {
            session in
            let log = EventLog()
            let running = Task { try await session.run(.enroll, log) }
            try await log.nextTouch()
            try await session.bench.unplug()
            _ = await running.result
            try await requireError(.unplugged, "suspending") { try await session.reader.suspend() }
            try await requireError(.unplugged, "resuming") { try await session.reader.resume() }
        },
    ]

    /// The finger that wakes the machine is no answer to what was asked before.
    static func suspended(_ operation: ScanOperation) -> ConformanceCheck {
        check(operation, "suspended while it waits, it ends, and so does the one behind it") { session in
            let reader = session.reader
            for round in 1...3 {
                let log = EventLog()
                let running = Task { try await session.run(operation, log) }
                try await log.nextTouch()
                let waiting = Task { try await session.run(operation, whenBusy: .wait, EventLog()) }
                try await withDeadline("suspending") { try await reader.suspend() }
                for (task, what) in [(running, "the one that runs"), (waiting, "the one behind it")] {
                    try await requireError(.suspended, "\(what), round \(round)") {
                        _ = try await withDeadline("suspension") { try await task.value }
                    }
                }
                try await requireNothingBegins(session)
                try await reader.resume()
            }
            try await session.requireUsable(after: "suspending")
        }
    }

    private static func requireNothingBegins(_ session: Session) async throws {
        let entry = session.entry ?? GalleryEntry(id: PrintID(), template: Template(bytes: [1]))
        let suspended = Session(reader: session.reader, bench: session.bench, entry: entry)
        let features = await session.reader.info.features
        for operation in ScanOperation.allCases where features.isSuperset(of: operation.feature) {
            try await requireError(.suspended, "\(operation) while suspended") {
                _ = try await withDeadline("refusal") { try await suspended.run(operation, EventLog()) }
            }
        }
        if features.contains(.storageList) {
            try await requireError(.suspended, "list while suspended") {
                _ = try await withDeadline("refusal") {
                    try await session.reader.storedPrints(whenBusy: .fail)
                }
            }
        }
    }
}
