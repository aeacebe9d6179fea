// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint

@testable import whorl

/// The readers in which fprintd's own daemon can delete fingers, and what doctor and an enrollment say of them.
struct FprintdPlaceTests {
    private static let ours = """
        [D-BUS Service]
        Name=net.reactivated.Fprint
        Exec=/bin/false
        User=whorl
        SystemdService=dbus-net.reactivated.Fprint.service
        """
    private static let fprintds = """
        [D-BUS Service]
        Name=net.reactivated.Fprint
        Exec=/usr/libexec/fprintd
        User=root
        SystemdService=fprintd.service
        """

    /// Returns the place by two folders of the bus, with a service's file in each where one is given.
    private func place(_ texts: String?...) throws -> FprintdPlace {
        let root = URL(filePath: NSTemporaryDirectory()).appending(path: "whorl-place-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }  // A test's folder.
        let folders = try texts.enumerated().map { number, text in
            let folder = root.appending(path: "\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: "net.reactivated.Fprint.service")
            try text?.write(to: file, atomically: false, encoding: .utf8)
            return folder.path
        }
        return FprintdPlace(folders: folders)
    }

    private func reader(
        _ storage: ReaderInfo.Storage = .reader,
        kind: ReaderInfo.Kind = .hardware,
        features: ReaderFeatures = []
    ) -> ReaderInfo {
        ReaderInfo(
            id: ReaderID(rawValue: "elanmoc:1"),
            driver: "elanmoc",
            name: "ELAN Match-on-Chip",
            kind: kind,
            scanType: .press,
            features: features,
            enrollStages: 9,
            storage: storage,
            strength: .onReader,
            access: ReaderAccess(.closed)
        )
    }

    @Test func `the first file that the bus finds decides who has the place`() throws {
        #expect(try place(nil, nil) == .free)
        #expect(try place(nil, Self.ours) == .whorl)
        #expect(try place(nil, Self.fprintds) == .fprintd)
        #expect(try place(Self.ours, Self.fprintds) == .whorl)
        #expect(try place(Self.fprintds, Self.ours) == .fprintd)
    }

    @Test func `the file that is installed gives the place to Whorl`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let file = root.appending(path: "systemd/fprintd/net.reactivated.Fprint.service")
        #expect(try place(String(contentsOf: file, encoding: .utf8)) == .whorl)
    }

    @Test func `fprintd's daemon can delete prints that real hardware keeps, and no others`() {
        #expect(FprintdPlace.fprintd.endangersPrints(in: reader()))
        #expect(FprintdPlace.fprintd.endangersPrints(in: reader(features: .storageList)))
        #expect(!FprintdPlace.whorl.endangersPrints(in: reader()))
        #expect(!FprintdPlace.free.endangersPrints(in: reader()))
        #expect(!FprintdPlace.fprintd.endangersPrints(in: reader(.host)))
        #expect(!FprintdPlace.fprintd.endangersPrints(in: reader(kind: .mock)))
        #expect(!FprintdPlace.fprintd.endangersPrints(in: reader(kind: .virtual)))
    }

    @Test func `doctor warns of a shared reader and says how fprintd deletes`() throws {
        let check = try #require(ReaderDiagnosis.shared(reader(), with: .fprintd))
        #expect(check.verdict == .warning && check.name == "shared reader")
        #expect(check.detail.contains("clears the reader before its own first enrollment"))
        #expect(check.remedy?.contains("sudo apt install whorld-fprintd") == true)
        let listing = try #require(ReaderDiagnosis.shared(reader(features: .storageList), with: .fprintd))
        #expect(!listing.detail.contains("clears the reader") && listing.detail.contains("is full"))
        #expect(ReaderDiagnosis.shared(reader(), with: .whorl) == nil)
    }

    @Test func `an enrollment in a shared reader is refused with the way to allow it`() throws {
        let refusal = try #require(Enroll.refusal(of: reader(), with: .fprintd))
        #expect(refusal.code == "sharedReader" && refusal.status == .usage)
        #expect(refusal.recovery.contains("--share-reader") && refusal.recovery.contains("whorld-fprintd"))
        #expect(Enroll.refusal(of: reader(.host), with: .fprintd) == nil)
        #expect(Enroll.refusal(of: reader(), with: .whorl) == nil)
    }
}
