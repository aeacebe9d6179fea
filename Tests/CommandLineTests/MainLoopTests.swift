// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Synchronization
import Testing

/// Programs with a GLib main loop of their own (`Tests/Support/MainLoopProbe`), as GTK programs have one.
@Suite(.timeLimit(.minutes(60)))
struct MainLoopTests {
    private let whorl: WhorlProgram
    private var environment: [String: String] {
        ["FP_VIRTUAL_IMAGE": whorl.home + "/reader", "HOME": whorl.home]
    }

    init() throws { whorl = try WhorlProgram() }

    /// Runs a program, and presses a finger each time it prints `line`.
    private func run(
        _ program: String,
        _ arguments: [String],
        pressingAt line: String,
        from first: Int
    ) async throws -> WhorlProgram.Outcome {
        let touches = Mutex(first)
        let environment = environment
        return try await whorl.run(program, arguments, environment: environment) { said, _ in
            guard said == line else { return }
            let press = touches.withLock { press in
                defer { press += 1 }
                return press
            }
            let touch = ChildProgram()
            touch.executableURL = URL(filePath: WhorlProgram.simulator)
            touch.arguments = ["--timeout", "240", "1", "--press", "\(press)"]
            touch.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            touch.standardOutput = FileHandle.nullDevice
            // A touch that cannot begin is missing in the outcome.
            try? touch.start()
        }
    }

    private static let probe = URL(filePath: WhorlProgram.path).deletingLastPathComponent()
        .appending(path: "MainLoopProbe").path

    /// `early` begins the evaluation before the loop, the others inside of it.
    @Test(arguments: ["application", "loop", "early"])
    func `a program that uses Whorl before its own main loop starts, and a finger is recognized`(
        loop: String
    ) async throws {
        let enroll = ["enroll", "right-index-finger", "--json", "--timeout", "240"]
        let enrolled = try await run(WhorlProgram.path, enroll, pressingAt: #"{"event":"touch"}"#, from: 0)
        #expect(enrolled.status == 0, "\(enrolled)")
        let outcome = try await run(Self.probe, [loop], pressingAt: "asks", from: 20)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(Set(outcome.lines) == ["ready true", "activated", "can true", "asks", "owner"], "\(outcome)")
    }

    @Test func `the engine in the program's child sleeps while it waits for a touch`() async throws {
        let enroll = ["enroll", "right-index-finger", "--json", "--timeout", "240"]
        let enrolled = try await run(WhorlProgram.path, enroll, pressingAt: #"{"event":"touch"}"#, from: 0)
        #expect(enrolled.status == 0, "\(enrolled)")
        let (counts, count) = AsyncStream.makeStream(of: Int?.self)
        _ = try await whorl.run(
            ["evaluate", "--reason", "look", "--json", "--timeout", "240"],
            environment: environment
        ) { line, program in
            guard line == #"{"event":"touch"}"# else { return }
            let engine = Self.child(of: program.processIdentifier)
            let before = Self.sleeps(of: engine)
            Thread.sleep(forTimeInterval: 2)
            let after = Self.sleeps(of: engine)
            count.yield(before.flatMap { before in after.map { $0 - before } })
            program.send(SIGTERM)
        }
        count.finish()
        let found = await counts.first { _ in true } ?? nil
        let sleeps = try #require(found, "the engine has no GLib thread")
        // libfprint's virtual driver has a time limit of 400 ms; a thread that looks now and then slept 515 times.
        #expect(sleeps < 40)
    }

    /// Returns how often the GLib thread of a process went to sleep; `nil` if it has none.
    private static func sleeps(of process: Int32?) -> Int? {
        guard let process else { return nil }
        let threads = "/proc/\(process)/task"
        let thread = entries(threads).first { text("\(threads)/\($0)/comm") == "whorl-glib\n" }
        return thread.flatMap { field("voluntary_ctxt_switches", in: "\(threads)/\($0)/status") }
    }

    private static func child(of parent: Int32) -> Int32? {
        entries("/proc").compactMap { Int32($0) }
            .first { field("PPid", in: "/proc/\($0)/status") == Int(parent) }
    }

    private static func field(_ name: String, in file: String) -> Int? {
        text(file).split(separator: "\n").first { $0.hasPrefix("\(name):") }
            .flatMap { $0.split(separator: "\t").last }.flatMap { Int($0) }
    }

    private static func entries(_ folder: String) -> [String] {
        // A process that has ended has no threads.
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private static func text(_ path: String) -> String {
        // A thread that has ended has no files.
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
