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
            let touch = Process()
            touch.executableURL = URL(filePath: WhorlProgram.path)
            touch.arguments = [
                "simulate", "touch", "--timeout", "240", "--json", "1", "--press", "\(press)",
            ]
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
    func `a program that uses Whorl before its own main loop starts, and a finger is recognised`(
        loop: String
    ) async throws {
        let enroll = ["enroll", "right-index-finger", "--json", "--timeout", "240"]
        let enrolled = try await run(WhorlProgram.path, enroll, pressingAt: #"{"event":"touch"}"#, from: 0)
        #expect(enrolled.status == 0, "\(enrolled)")
        let outcome = try await run(Self.probe, [loop], pressingAt: "asks", from: 20)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(Set(outcome.lines) == ["ready true", "activated", "can true", "asks", "owner"], "\(outcome)")
    }
}
