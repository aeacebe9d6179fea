// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Testing

@testable import WhorlLibfprint

/// libfprint's virtual reader that keeps prints in itself; what it keeps is asked of the driver as well.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A reader that keeps prints in itself` {
    @Test func `lists what was enrolled, and deletes just what it is told to`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            var templates: [Template] = []
            for finger in 0..<3 { templates.append(try await bench.enroll(finger)) }
            #expect(try await bench.names() == ["finger-0", "finger-1", "finger-2"])
            let listed = try await reader.storedPrints(whenBusy: .fail)
            #expect(listed.count == 3)
            for template in templates {
                var same = 0
                for print in listed where await reader.isSamePrint(print.template, template) { same += 1 }
                #expect(same == 1)
            }
            try await reader.delete(templates[1], whenBusy: .fail)
            #expect(try await bench.names() == ["finger-0", "finger-2"])
            await expectError(.printNotFound) { try await reader.delete(templates[1], whenBusy: .fail) }
            #expect(try await bench.names() == ["finger-0", "finger-2"])
        }
    }

    /// libfprint writes finger, date and user into the name of a print, and reads them from there.
    @Test func `lists another system's prints with what is written beside them, and can delete them`()
        async throws
    {
        try await withVirtualDevice(.storage) { bench, reader in
            _ = try await bench.enroll(0)
            let stranger = "FP1-20240229-7-0A1B2C3D-somebody"
            try await bench.hand.say(.insert(stranger))
            let prints = try await reader.storedPrints(whenBusy: .fail)
            let found = try #require(prints.first { $0.metadata.userName == "somebody" })
            #expect(prints.count == 2)
            #expect(found.metadata.finger == .rightIndex)
            #expect(found.metadata.date == CalendarDate(year: 2024, month: 2, day: 29))
            try await reader.delete(found.template, whenBusy: .fail)
            #expect(try await bench.names() == ["finger-0"])
        }
    }

    @Test func `is empty after it was cleared, and takes prints again`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            try await bench.hand.say(.insert("a print of another system"))
            try await bench.hand.say(.goOn)
            try await reader.clearStorage(whenBusy: .fail)
            #expect(try await bench.names() == [])
            #expect(try await reader.storedPrints(whenBusy: .fail).isEmpty)
            await expectError(.printNotFound) { try await reader.delete(template, whenBusy: .fail) }
            _ = try await bench.enroll(0)
            #expect(try await bench.names() == ["finger-0"])
        }
    }

    @Test func `says that it is full, keeps nothing of the attempt, and works on`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            let scan = VirtualDeviceHand.Command.scan("finger-1")
            await expectError(.storageFull) {
                _ = try await bench.touching(reader, [scan, scan, .error(8)]) { observer in
                    try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail, observer: observer)
                }
            }
            #expect(try await bench.names() == ["finger-0"])
            let result = try await bench.touching(reader, [.scan("finger-0")]) { observer in
                try await reader.verify(template, whenBusy: .fail, observer: observer)
            }
            #expect(result == .match(updated: nil))
        }
    }

    @Test func `refuses a finger that it has, at the first presentation`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            _ = try await bench.enroll(0)
            await expectError(.duplicate) { _ = try await bench.enroll(0) }
            #expect(try await bench.names() == ["finger-0"])
            _ = try await bench.enroll(1)
            #expect(try await bench.names() == ["finger-0", "finger-1"])
        }
    }

    @Test func `identifies each finger by its entry, in any order of the gallery`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            var gallery: [GalleryEntry] = []
            for finger in 0..<4 {
                gallery.append(GalleryEntry(id: PrintID(), template: try await bench.enroll(finger)))
            }
            for order in [gallery, gallery.reversed(), Array(gallery[2...] + gallery[..<2])] {
                for finger in 0..<4 {
                    let result = try await identify(bench, reader, among: order, finger)
                    #expect(result == .match(gallery[finger].id, updated: nil), "finger \(finger)")
                }
            }
        }
    }

    @Test func `names nobody who is not in the gallery, even if the reader knows the finger`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let first = GalleryEntry(id: PrintID(), template: try await bench.enroll(0))
            _ = try await bench.enroll(1)
            #expect(try await identify(bench, reader, among: [first], 1) == .noMatch)
            #expect(try await identify(bench, reader, among: [first], 7) == .noMatch)
            #expect(try await identify(bench, reader, among: [], 0) == .noMatch)
        }
    }

    /// Another system, or the reader's own reset.
    @Test func `does not verify a finger whose print was taken out of it`() async throws {
        try await withVirtualDevice(.storage) { bench, reader in
            let template = try await bench.enroll(0)
            try await bench.hand.say(.remove("finger-0"))
            // The driver reads commands for its storage with the next operation.
            #expect(try await reader.storedPrints(whenBusy: .fail).isEmpty)
            let result = try await bench.touching(reader, [.scan("finger-0")]) { observer in
                try await reader.verify(template, whenBusy: .fail, observer: observer)
            }
            #expect(result == .noMatch)
            await expectError(.printNotFound) { try await reader.delete(template, whenBusy: .fail) }
        }
    }

    private func identify(
        _ bench: VirtualDeviceBench,
        _ reader: LibfprintReader,
        among gallery: [GalleryEntry],
        _ finger: Int
    ) async throws -> IdentifyResult {
        try await bench.touching(reader, [.scan(VirtualDeviceBench.name(of: finger))]) { observer in
            try await reader.identify(among: gallery, whenBusy: .fail, observer: observer)
        }
    }
}
