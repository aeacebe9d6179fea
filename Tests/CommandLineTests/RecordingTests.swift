// SPDX-License-Identifier: Apache-2.0

import Foundation
import GreyscalePNG
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
        let seen = try GreyImage(pgm: PictureFile.bytes(whorl.home + "/seen.pgm"))
        let recorded = try GreyscalePNG.read("\(try #require(Recordings.folder))/\(name)/capture.png")
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
        let outcome = try await run(name, ["devices", "exercise", "--json"] + options)
        #expect(outcome.status == 0, "\(outcome.out)")
        let report = outcome.answer("result")?["steps"] as? [[String: Any]]
        #expect(report?.compactMap { $0["name"] as? String } == steps)
        #expect(report?.allSatisfy { $0["ok"] as? Bool == true } == true)
    }
}
