// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint

// What a reader does when all goes well.
extension ReaderConformance {
    static let lifecycle: [ConformanceCheck] = [
        ConformanceCheck("opening an open reader and closing a closed one does nothing", opens: false) {
            session in
            let reader = session.reader
            try await reader.close()
            try await reader.open()
            try await reader.open()
            try await reader.close()
            try await reader.close()
            try await reader.open()
            try await session.requireUsable(after: "opening again")
        },
        ConformanceCheck("a closed reader does nothing") { session in
            let entry = GalleryEntry(id: PrintID(), template: Template(bytes: [1, 2, 3]))
            let closed = Session(reader: session.reader, bench: session.bench, entry: entry)
            try await closed.reader.close()
            for operation in ScanOperation.allCases {
                try await requireError(.notOpen, "\(operation) on a closed reader") {
                    _ = try await closed.run(operation, EventLog())
                }
            }
        },
        ConformanceCheck("a reader refuses what it does not say it can do") { session in
            guard case .template(let template) = try await session.run(.enroll).result else { return }
            let reader = session.reader
            let features = await reader.info.features
            let entry = GalleryEntry(id: PrintID(), template: template)
            let enrolled = Session(reader: reader, bench: session.bench, entry: entry)
            for operation in ScanOperation.allCases where !features.isSuperset(of: operation.feature) {
                try await requireError(.unsupported, "\(operation)") {
                    _ = try await enrolled.run(operation, EventLog())
                }
            }
            if !features.contains(.storageList) {
                try await requireError(.unsupported, "list") {
                    _ = try await reader.storedPrints(whenBusy: .fail)
                }
            }
            if !features.contains(.storageDelete) {
                try await requireError(.unsupported, "delete") {
                    try await reader.delete(template, whenBusy: .fail)
                }
            }
            if !features.contains(.storageClear) {
                try await requireError(.unsupported, "clear") {
                    try await reader.clearStorage(whenBusy: .fail)
                }
            }
        },
        ConformanceCheck("no finger is needed or there when no operation runs") { session in
            let (_, _) = try await session.run(.enroll)
            let status = await session.reader.fingerStatus
            try requireEqual(status, FingerStatus(needed: false, present: false), "finger status")
        },
        ConformanceCheck("a finger is needed while an operation waits") { session in
            let reader = session.reader
            _ = try await session.run(.enroll) { _ in
                // A slow driver has not said so yet when the reader asks for the finger in its place.
                for _ in 0..<500 where await !reader.fingerStatus.needed {
                    try await Task.sleep(for: .milliseconds(20))
                }
                try require(await reader.fingerStatus.needed, "a finger is needed after .touch")
                try await session.bench.present(0)
            }
        },
    ]

    static let enrolling: [ConformanceCheck] = [
        ConformanceCheck("an enrollment asks once for each stage and counts them") { session in
            let (result, log) = try await session.run(.enroll)
            let stages = await session.reader.info.enrollStages
            guard case .template(let template) = result else { return }
            try require(!template.bytes.isEmpty, "a template has bytes")
            try requireEqual(log.count(.touch), stages, "requests for a finger")
            let counted = log.events.filter { if case .stage = $0 { true } else { false } }
            try requireEqual(counted, (1...stages).map { .stage(completed: $0, total: stages) }, "stages")
            try requireEqual(log.events.first, .touch, "the first event")
        },
        ConformanceCheck("an enrollment asks again after an unreadable press", needs: .unreadable) {
            session in
            let bench = session.bench
            let (_, log) = try await session.run(.enroll) { count in
                if count == 1 { try await bench.presentUnreadable() } else { try await bench.present(0) }
            }
            let stages = await session.reader.info.enrollStages
            let retries = log.events.count { if case .retry = $0 { true } else { false } }
            try requireEqual(retries, 1, "retries")
            try requireEqual(log.count(.touch), stages + 1, "requests for a finger")
            try requireEqual(log.count(.stage(completed: stages, total: stages)), 1, "last stage")
        },
        ConformanceCheck("two enrollments are different prints", entry: true) { session in
            let first = try session.enrolled().template
            let bench = session.bench
            guard
                case .template(let second) = try await session.run(
                    .enroll,
                    hand: { _ in try await bench.present(1) }
                ).result
            else { return }
            try require(await session.reader.isSamePrint(first, first), "a print is the same as itself")
            try require(
                !(await session.reader.isSamePrint(first, second)),
                "another finger's print is another one"
            )
        },
    ]

    static let comparing: [ConformanceCheck] = [
        ConformanceCheck("the enrolled finger verifies", features: .verify, entry: true) { session in
            let (result, log) = try await session.run(.verify)
            guard case .verification(.match) = result else {
                throw ConformanceFailure(description: "expected a match, found \(result)")
            }
            try requireEqual(log.count(.touch), 1, "requests for a finger")
        },
        ConformanceCheck("another finger does not verify", features: .verify, entry: true) { session in
            let bench = session.bench
            let result = try await session.run(.verify) { _ in try await bench.present(1) }.result
            try requireEqual(result, .verification(.noMatch), "another finger")
        },
        ConformanceCheck("the enrolled finger is identified by its entry", features: .identify, entry: true) {
            session in
            let bench = session.bench
            guard
                case .template(let other) = try await session.run(
                    .enroll,
                    hand: { _ in try await bench.present(1) }
                ).result
            else { return }
            let gallery = [try session.enrolled(), GalleryEntry(id: PrintID(), template: other)]
            for (finger, entry) in gallery.enumerated() {
                let log = EventLog()
                let reader = session.reader
                let result = try await withDeadline("identify") {
                    async let result = reader.identify(
                        among: gallery,
                        whenBusy: .fail,
                        observer: log.observer
                    )
                    try await log.nextTouch()
                    try await bench.present(finger)
                    return try await result
                }
                guard case .match(entry.id, _) = result else {
                    throw ConformanceFailure(
                        description: "finger \(finger): expected \(entry.id), found \(result)"
                    )
                }
            }
        },
        ConformanceCheck("another finger is not identified", features: .identify, entry: true) { session in
            let bench = session.bench
            let result = try await session.run(.identify) { _ in try await bench.present(1) }.result
            try requireEqual(result, .identification(.noMatch), "another finger")
        },
        ConformanceCheck("foreign bytes are not a template") { session in
            let foreign = GalleryEntry(id: PrintID(), template: Template(bytes: Array("not a template".utf8)))
            let features = await session.reader.info.features
            let strange = Session(reader: session.reader, bench: session.bench, entry: foreign)
            for operation in [ScanOperation.verify, .identify] where features.contains(operation.feature) {
                try await requireError(.templateInvalid, "\(operation) with foreign bytes") {
                    _ = try await strange.run(operation, EventLog())
                }
            }
        },
        ConformanceCheck("a picture has the size that it says", features: .capture) { session in
            guard case .picture(let width, let height) = try await session.run(.capture).result else {
                return
            }
            try require(width > 0 && height > 0, "a picture has pixels")
        },
    ]

    static let storing: [ConformanceCheck] = [
        ConformanceCheck(
            "a print in the reader is listed, deleted, and then not found",
            features: [.storageList, .storageDelete],
            entry: true
        ) { session in
            let reader = session.reader
            let template = try session.enrolled().template
            var same = 0
            try await session.bench.prepareStorageOperation()
            for print in try await reader.storedPrints(whenBusy: .fail) {
                if await reader.isSamePrint(print.template, template) { same += 1 }
            }
            try requireEqual(same, 1, "listed prints")
            try await session.bench.prepareStorageOperation()
            try await reader.delete(template, whenBusy: .fail)
            try await session.bench.prepareStorageOperation()
            try await requireError(.printNotFound, "deleting it again") {
                try await reader.delete(template, whenBusy: .fail)
            }
        },
        ConformanceCheck("a cleared reader is empty", features: [.storageList, .storageClear], entry: true) {
            session in
            try await session.bench.prepareStorageOperation()
            try await session.reader.clearStorage(whenBusy: .fail)
            try await session.bench.prepareStorageOperation()
            try requireEqual(try await session.reader.storedPrints(whenBusy: .fail).count, 0, "listed prints")
        },
    ]
}
