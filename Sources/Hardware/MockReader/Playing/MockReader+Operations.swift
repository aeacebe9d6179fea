// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

// Operations that wait for a finger.
extension MockReader {
    /// Creates a template from the first finger of ``MockSettings/stages`` good presentations.
    ///
    /// Like a real reader, it does not compare later presentations with the first one.
    public func enroll(
        _ metadata: EnrollmentMetadata,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> Template {
        try await operate("enroll", whenBusy: whenBusy) { () throws(ReaderError) in
            var first: MockFinger?
            for completed in 0..<settings.stages {
                let finger = try await readableFinger("enroll", observer) {
                    observer(.stage(completed: completed + 1, total: settings.stages))
                }
                first = first ?? finger
                try refuseDuplicate(finger, metadata)
            }
            return try store(finger(first ?? .unknown, or: metadata), metadata)
        }
    }

    /// Compares one presentation with one template.
    ///
    /// A reader with storage throws `printNotFound` unless it has stored the template.
    public func verify(
        _ template: Template,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> VerifyResult {
        try await operate("verify", needing: .verify, whenBusy: whenBusy) { () throws(ReaderError) in
            let print = try read(template, "verify")
            if settings.storage == .reader, !(try isStored(print, "verify")) {
                throw ReaderError(.printNotFound, operation: "verify")
            }
            switch try await presentation("verify", observer) {
            case .unreadable(let reason): return .retry(reason)
            case .lie(let lie):
                throw ReaderError(.untrustworthy, operation: "verify", cause: "lie:\(lie.rawValue)")
            case .finger(let finger):
                return matches(finger, print, isFirst: true) ? .match(updated: improved(print)) : .noMatch
            }
        }
    }

    /// Compares one presentation with the gallery, or returns a print outside the gallery if the next step is a `lie`.
    ///
    /// A reader with storage matches only the prints that it has stored.
    public func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult {
        try await operate("identify", needing: .identify, whenBusy: whenBusy) { () throws(ReaderError) in
            var prints: [(id: PrintID, print: MockPrint)] = []
            for entry in gallery {
                let print = try read(entry.template, "identify")
                if settings.storage == .reader, !(try isStored(print, "identify")) { continue }
                prints.append((entry.id, print))
            }
            switch try await presentation("identify", observer) {
            case .unreadable(let reason): return .retry(reason)
            case .lie(let lie): return falseMatch(lie, notIn: gallery)
            case .finger(let finger):
                let match = prints.indices.first { matches(finger, prints[$0].print, isFirst: $0 == 0) }
                return match.map { .match(prints[$0].id, updated: improved(prints[$0].print)) } ?? .noMatch
            }
        }
    }

    /// Always draws the same image for the same finger.
    ///
    /// The image has no ridges for a matcher to use.
    public func capture(whenBusy: BusyPolicy, observer: @escaping ScanObserver) async throws(ReaderError)
        -> FingerprintImage
    {
        try await operate("capture", needing: .capture, whenBusy: whenBusy) { () throws(ReaderError) in
            let finger = finger(try await readableFinger("capture", observer) {}, or: EnrollmentMetadata())
            guard let image = MockPicture.draw(finger) else {
                throw ReaderError(.malfunction, operation: "capture")
            }
            return image
        }
    }
}

// MARK: - Presentations

extension MockReader {
    /// Prompts for one presentation and waits for it.
    ///
    /// `whenRead` runs while a readable finger is on the sensor.
    private func presentation(
        _ operation: String,
        _ observer: ScanObserver,
        whenRead: () -> Void = {}
    ) async throws(ReaderError) -> MockPlayer.Presentation {
        setStatus(needed: true, present: false)
        defer { setStatus(needed: false, present: false) }
        observer(.touch)
        let presentation = try await player.nextPresentation(operation)
        setStatus(needed: true, present: true)
        observer(.finger(present: true))
        switch presentation {
        case .finger: whenRead()
        case .unreadable(let reason): observer(.retry(reason))
        case .lie: break
        }
        observer(.finger(present: false))
        return presentation
    }

    /// Prompts repeatedly until a finger can be read.
    private func readableFinger(
        _ operation: String,
        _ observer: ScanObserver,
        whenRead: () -> Void
    ) async throws(ReaderError) -> MockFinger {
        while true {
            switch try await presentation(operation, observer, whenRead: whenRead) {
            case .finger(let finger): return finger
            case .unreadable: continue
            case .lie(let lie):
                throw ReaderError(.untrustworthy, operation: operation, cause: "lie:\(lie.rawValue)")
            }
        }
    }

    // MARK: - Comparing

    private func read(_ template: Template, _ operation: String) throws(ReaderError) -> MockPrint {
        guard let print = MockPrint(template) else {
            throw ReaderError(.templateInvalid, operation: operation, cause: "not a mock's template")
        }
        return print
    }

    /// Returns whether the finger matches the print.
    ///
    /// ``MockFinger/expected`` matches only the first print.
    private func matches(_ finger: MockFinger, _ print: MockPrint, isFirst: Bool) -> Bool {
        switch finger {
        case .finger(let finger): print.finger == finger
        case .expected: isFirst && print.finger != nil
        case .unknown: false
        }
    }

    private func improved(_ print: MockPrint) -> Template? {
        info.features.contains(.updatePrint) ? print.improved.template : nil
    }

    private func falseMatch(_ lie: MockLie, notIn gallery: [GalleryEntry]) -> IdentifyResult {
        let stranger = MockPrint(finger: nil, serial: 1).template
        switch lie {
        case .index: return .match(PrintID(String(repeating: "f", count: 32)) ?? PrintID(), updated: nil)
        case .stranger: return .match(PrintID(), updated: stranger)
        }
    }

    /// Returns the finger that was presented, or `nil` for a stranger's finger.
    private func finger(_ presented: MockFinger, or metadata: EnrollmentMetadata) -> Finger? {
        switch presented {
        case .finger(let finger): finger
        case .expected: metadata.finger ?? .rightIndex
        case .unknown: nil
        }
    }

    // MARK: - Storage of its own

    private func refuseDuplicate(_ presented: MockFinger, _ metadata: EnrollmentMetadata) throws(ReaderError)
    {
        guard info.features.contains(.duplicatesCheck), let finger = finger(presented, or: metadata) else {
            return
        }
        let isThere = try withStorage { storage throws(ReaderError) in
            try storage.refresh("enroll")
            return storage.records.contains { $0.print.finger == finger }
        }
        if isThere { throw ReaderError(.duplicate, operation: "enroll") }
    }

    private func isStored(_ print: MockPrint, _ operation: String) throws(ReaderError) -> Bool {
        try withStorage { storage throws(ReaderError) in
            try storage.refresh(operation)
            return storage.contains(print)
        }
    }

    private func store(_ finger: Finger?, _ metadata: EnrollmentMetadata) throws(ReaderError) -> Template {
        try withStorage { storage throws(ReaderError) in
            guard settings.storage == .reader else {
                return MockPrint(finger: finger, serial: storage.takeSerial()).template
            }
            try storage.refresh("enroll")
            let print = MockPrint(finger: finger, serial: storage.takeSerial())
            try storage.change("enroll") { $0.append(.init(print: print, metadata: metadata)) }
            return print.improved.template
        }
    }
}

// The templates stored in a mock with `storage=reader`.
extension MockReader {
    /// Returns the stored prints, in enrollment order.
    public func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] {
        try await operate("list", needing: .storageList, whenBusy: whenBusy) { () throws(ReaderError) in
            try withStorage { storage throws(ReaderError) in
                try storage.refresh("list")
                return storage.records.map {
                    StoredPrint(template: $0.print.plain.template, metadata: $0.metadata)
                }
            }
        }
    }

    /// Deletes one print from the mock's storage.
    public func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {
        try await operate("delete", needing: .storageDelete, whenBusy: whenBusy) { () throws(ReaderError) in
            guard let print = MockPrint(template) else {
                throw ReaderError(.templateInvalid, operation: "delete", cause: "not a mock's template")
            }
            try withStorage { storage throws(ReaderError) in
                try storage.refresh("delete")
                guard storage.contains(print) else { throw ReaderError(.printNotFound, operation: "delete") }
                try storage.change("delete") { $0.removeAll { $0.print.isSame(as: print) } }
            }
        }
    }

    /// Deletes all prints from the mock's storage.
    public func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) {
        try await operate("clear", needing: .storageClear, whenBusy: whenBusy) { () throws(ReaderError) in
            try withStorage { storage throws(ReaderError) in
                try storage.refresh("clear")
                try storage.change("clear") { $0.removeAll() }
            }
        }
    }
}
