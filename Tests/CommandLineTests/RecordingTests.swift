// SPDX-License-Identifier: Apache-2.0

import Foundation
import GrayscalePNG
import SyntheticFingers
import Testing

/// Recorded USB traffic of real readers; none of it is in this repository.
private enum Recordings {
    static let folder = ProcessInfo.processInfo.environment["WHORL_RECORDINGS"]

    /// The readers whose recording is a picture.
    static let pictures: [String] = {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return []
        }
        return names.filter { FileManager.default.fileExists(atPath: "\(folder)/\($0)/capture.png") }.sorted()
    }()
}

/// libfprint's real USB drivers on recorded traffic of real readers (umockdev).
@Suite(.enabled(if: Recordings.folder != nil, "WHORL_RECORDINGS names no folder of recorded USB traffic"))
struct RecordingTests {
    private let whorl: WhorlProgram

    init() throws { whorl = try WhorlProgram() }

    /// Runs a command with one recorded reader plugged in.
    private func run(_ name: String, _ arguments: [String]) async throws -> WhorlProgram.Outcome {
        let folder = "\(try #require(Recordings.folder))/\(name)"
        let device = "\(folder)/device"
        let path = try firstLine(of: device, after: "P: ")
        var traffic: [String] = []
        for file in ["capture.pcapng", "custom.pcapng"]
        where FileManager.default.fileExists(atPath: "\(folder)/\(file)") {
            traffic = ["-p", "/sys\(path)=\(folder)/\(file)"]
        }
        if FileManager.default.fileExists(atPath: "\(folder)/capture.ioctl") {
            traffic = [
                "-i",
                "\(try firstLine(of: "\(folder)/capture.ioctl", after: "@DEV "))=\(folder)/capture.ioctl",
            ]
        }
        return try await whorl.run(
            "/usr/bin/env",
            ["umockdev-run", "-d", device] + traffic + ["--", WhorlProgram.path] + arguments + [
                "--timeout", "300",
            ],
            environment: ["FP_DEVICE_EMULATION": "1"]
        )
    }

    private func firstLine(of file: String, after prefix: String) throws -> String {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first)
        return String(line.dropFirst(prefix.count))
    }

    @Test(arguments: Recordings.pictures)
    func `an image reader gives the recorded picture, pixel for pixel`(name: String) async throws {
        let outcome = try await run(name, ["devices", "capture", "--output", "seen.pgm", "--json"])
        #expect(outcome.status == 0, "\(outcome.out)")
        #expect(outcome.answer("result")?["readerKind"] as? String == "hardware")
        let seen = try GrayImage(pgm: PictureFile.bytes(whorl.home + "/seen.pgm"))
        let recorded = try GrayscalePNG.read("\(try #require(Recordings.folder))/\(name)/capture.png")
        #expect(
            seen.width == recorded.width && seen.height == recorded.height && seen.pixels == recorded.pixels
        )
    }

    @Test(
        arguments: [
            ("elanmoc", [], ["open", "enroll", "list", "verify", "identify", "delete", "close"]),
            (
                "fpcmoc", ["--clear-storage"],
                ["open", "clear-storage", "enroll", "list", "verify", "identify", "delete", "close"]
            ),
            (
                "synaptics", ["--clear-storage", "--skip", "identify"],
                ["open", "clear-storage", "enroll", "verify", "delete", "close"]
            ),
        ] as [(String, [String], [String])]
    )
    func `a reader that matches on the chip does all it can`(
        name: String,
        options: [String],
        steps: [String]
    ) async throws {
        let saving = ["--report", "--yes", "--output", "report.json"]
        let outcome = try await run(name, ["devices", "exercise", "--json"] + options + saving)
        #expect(outcome.status == 0, "\(outcome.out)")
        try await look(at: whorl.home + "/report.json", of: name)
        let report = outcome.answer("result")?["steps"] as? [[String: Any]]
        #expect(report?.compactMap { $0["name"] as? String } == steps)
        #expect(report?.allSatisfy { $0["ok"] as? Bool == true } == true)
    }

    /// Sees that a report is one, and has the model of the reader and nothing that only this one has.
    private func look(at file: String, of name: String) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "scripts/hardware").path
        let outcome = try await whorl.run("/usr/bin/python3", ["-B", script, "validate", file])
        #expect(outcome.status == 0, "\(outcome)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let reader = try #require(object(text)?["reader"] as? [String: Any])
        #expect(reader["source"] as? String == "recording" && reader["driver"] as? String == name)
        let device = "\(try #require(Recordings.folder))/\(name)/device"
        let lines = try String(contentsOfFile: device, encoding: .utf8).split(separator: "\n")
        func attributes(_ attribute: String) -> [String] {
            lines.filter { $0.hasPrefix("A: \(attribute)=") }.map {
                String($0.dropFirst("A: \(attribute)=".count)).replacing("\\n", with: "")
            }
        }
        let model = "\(attributes("idVendor").first ?? ""):\(attributes("idProduct").first ?? "")"
        #expect(reader["usb"] as? String == model)
        // The reader synaptics has a serial number, all hubs do.
        let serials = attributes("serial")
        #expect(serials.count == (name == "synaptics" ? 2 : 1))
        for serial in serials { #expect(!text.contains(serial)) }
    }
}
