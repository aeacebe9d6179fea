// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import GrayscalePNG
import SyntheticFingers
import Testing

/// The main job on libfprint's virtual image reader: a real detector and matcher, made-up or borrowed fingers.
@Suite(.timeLimit(.minutes(60)))
struct VirtualReaderTests {
    private let whorl: WhorlProgram
    private var reader: [String: String] { ["FP_VIRTUAL_IMAGE": whorl.home + "/reader"] }

    init() throws { whorl = try WhorlProgram() }

    /// Runs a command, and presses a finger each time it begins to wait for one.
    ///
    /// `press` gives the arguments of `whorl-simulate` for the n-th touch, from 0.
    private func run(
        _ arguments: [String],
        press: @escaping @Sendable (Int) -> [String]
    ) async throws -> WhorlProgram.Outcome {
        let touches = Counter()
        let environment = reader.merging(["HOME": whorl.home]) { $1 }
        return try await whorl.run(arguments + ["--json", "--timeout", "240"], environment: environment) {
            line,
            _ in
            guard line == #"{"event":"touch"}"# else { return }
            let touch = ChildProgram()
            touch.executableURL = URL(filePath: WhorlProgram.simulator)
            touch.arguments = ["--timeout", "240"] + press(touches.next())
            touch.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            touch.standardOutput = FileHandle.nullDevice
            try? touch.start()
            touch.waitForEnd()
        }
    }

    private func finger(_ seed: Int, from first: Int = 0) -> @Sendable (Int) -> [String] {
        { ["\(seed)", "--press", "\(first + $0)"] }
    }

    @Test func `the right finger is recognized, another is not`() async throws {
        let enrolled = try await run(["enroll", "right-index-finger"], press: finger(1))
        #expect(enrolled.status == 0, "\(enrolled)")
        #expect(enrolled.answer("result")?["readerKind"] as? String == "virtual")
        let right = try await run(["evaluate", "--reason", "r"], press: finger(1, from: 20))
        #expect(right.status == 0, "\(right)")
        #expect(right.answer("result")?["finger"] as? String == "right-index-finger")
        let other = try await run(["evaluate", "--reason", "r"], press: finger(2))
        #expect(other.status == 10, "\(other)")
    }

    @Test func `an unreadable touch is a retry, and costs no try`() async throws {
        #expect(try await run(["enroll", "right-index-finger"], press: finger(1)).status == 0)
        let outcome = try await run(["evaluate", "--reason", "r"]) {
            $0 == 0 ? ["--bad", "center-finger"] : ["1", "--press", "30"]
        }
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains(#"{"event":"retry","reason":"centerFinger"}"#))
    }

    @Test func `a reader that is pulled out while enrolling leaves nothing`() async throws {
        let outcome = try await run(["enroll", "right-index-finger"]) {
            $0 < 2 ? ["1", "--press", "\($0)"] : ["--unplug"]
        }
        #expect(outcome.status == 21, "\(outcome)")
        #expect(try await whorl.run(["fingers"]).out == "No fingers enrolled.\n")
    }

    @Test func `a trial of the virtual reader makes a report that is one`() async throws {
        let saving = ["devices", "exercise", "--report", "--yes", "--output", "report.json"]
        let outcome = try await run(saving, press: finger(1))
        #expect(outcome.status == 0, "\(outcome)")
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "scripts/hardware").path
        let file = whorl.home + "/report.json"
        let validated = try await whorl.run("/usr/bin/python3", ["-B", script, "validate", file])
        #expect(validated.status == 0, "\(validated)")
        let report = object(try String(contentsOfFile: file, encoding: .utf8))
        let reader = try #require(report?["reader"] as? [String: Any])
        #expect(reader["source"] as? String == "virtual" && reader["driver"] as? String == "virtual_image")
        #expect((reader["steps"] as? [[String: Any]])?.allSatisfy { $0["error"] == nil } == true)
    }

    @Test func `capture gives the picture that was pressed, pixel for pixel`() async throws {
        // libfprint 1.94.5 refuses to give a picture in which it sees no ridges.
        let finger = SyntheticFinger(seed: 1).press(3)
        let pressed = whorl.home + "/pressed.pgm"
        let header = Data("P5\n\(finger.width) \(finger.height)\n255\n".utf8)
        try (header + finger.pixels).write(to: URL(filePath: pressed))
        let outcome = try await run(["devices", "capture", "--output", "seen.pgm"]) { _ in
            ["--image", pressed]
        }
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try GrayImage(pgm: PictureFile.bytes(whorl.home + "/seen.pgm")) == finger)
        #expect(try Data(contentsOf: URL(filePath: whorl.home + "/seen.pgm")) == header + finger.pixels)
    }

    @Test func `two readers and none named is an error that lists them`() async throws {
        let both = reader.merging(["FP_VIRTUAL_DEVICE": whorl.home + "/device"]) { $1 }
        let ids = try await whorl.run(["devices", "--json"], environment: both).answer("result")?["devices"]
        let names = (ids as? [[String: Any]])?.compactMap { $0["id"] as? String } ?? []
        #expect(names.count == 2)
        let outcome = try await whorl.run(["enroll", "right-index-finger"], environment: both)
        #expect(outcome.status == 64)
        #expect(names.allSatisfy { outcome.err.contains($0) }, "\(outcome)")
        #expect(outcome.err.contains("whorl: hint: choose one with `--reader` or WHORL_READER\n"))
    }

    @Test func `a reader that another process holds is 35, and says which`() async throws {
        let holder = try await whorl.run(
            ["devices", "capture", "--output", "x.pgm", "--json", "--timeout", "240"],
            environment: reader
        ) { [whorl, reader] line, process in
            guard line == #"{"event":"touch"}"# else { return }
            let done = DispatchSemaphore(value: 0)
            Task {
                let second = try await whorl.run(
                    ["devices", "capture", "--output", "y.pgm"],
                    environment: reader
                )
                #expect(second.status == 35, "\(second)")
                #expect(second.err.contains("whorl: error: "))
                done.signal()
            }
            done.wait()
            process.send(SIGINT)
        }
        #expect(holder.status == 11)
    }

    /// The example prints that libfprint's own tests use, where they are there.
    private static let prints = ProcessInfo.processInfo.environment["WHORL_PRINTS"]

    @Test(.enabled(if: prints != nil, "WHORL_PRINTS names no folder of example prints"))
    func `real prints enroll, match themselves, and not each other`() async throws {
        let folder = try #require(Self.prints)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasSuffix(".png")
        }.sorted().map { name in
            let path = "\(whorl.home)/\(name).pgm"
            try GrayscalePNG.pgm("\(folder)/\(name)").write(to: URL(filePath: path))
            return path
        }
        #expect(files.count >= 2)
        for (mine, other) in zip(files, files.dropFirst() + files.prefix(1)) {
            let program = try VirtualReaderTests()
            let own = try await program.run(["enroll", "right-thumb"]) { _ in
                ["--image", mine]
            }
            #expect(own.status == 0, "\(own)")
            let right = try await program.run(["evaluate", "--reason", "r"]) { _ in
                ["--image", mine]
            }
            #expect(right.status == 0, "\(right)")
            let wrong = try await program.run(["evaluate", "--reason", "r"]) { _ in
                ["--image", other]
            }
            #expect(wrong.status == 10, "\(wrong)")
        }
    }
}

/// Counts from 0.
private final class Counter: @unchecked Sendable {
    // Only ever used on the one thread that reads a program's output.
    private var count = 0

    func next() -> Int {
        defer { count += 1 }
        return count
    }
}
