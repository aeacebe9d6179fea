// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import KeptThings

/// A program that does one step of the table after the other (`Tests/Support/KeepingProbe`) until it is killed.
final class KeepingChild: Sendable {
    private let process = ChildProgram()
    private let steps: FileHandle
    private let outcomes: FileHandle

    /// Starts one on a machine.
    init(directory: String, tpm address: String) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(filePath: tests).deletingLastPathComponent()
            .appending(path: "KeepingProbe")
        process.arguments = [directory, address]
        let own = ProcessInfo.processInfo.environment
        // Under the thread sanitizer (scripts/sanitize) its first report ends the program, which no test expects.
        process.environment = own.merging(
            own["TSAN_OPTIONS"].map { ["TSAN_OPTIONS": $0 + ":halt_on_error=1"] } ?? [:]
        ) { $1 }
        let (input, output) = (try ChildPipe(), try ChildPipe())
        (steps, outcomes) = (input.writing, output.reading)
        process.standardInput = input.reading
        process.standardOutput = output.writing
        // To a program that is gone an answer is missing, and this one is not to end.
        signal(SIGPIPE, SIG_IGN)
        try process.start()
        try input.reading.close()
        try output.writing.close()
    }

    deinit { end() }

    /// Has it do a step.
    ///
    /// - Returns: What it acknowledged; `nil` when it ended before that.
    func run(_ step: KeepingStep) async throws -> KeepingStep.Outcome? {
        try steps.write(contentsOf: try JSONEncoder().encode(step) + Data("\n".utf8))
        let outcomes = outcomes
        // Reading waits: on a thread of its own.
        let line = await withCheckedContinuation { done in
            Thread.detachNewThread {
                var line = Data()
                while line.last != UInt8(ascii: "\n") {
                    let more = outcomes.availableData
                    if more.isEmpty { return done.resume(returning: nil as Data?) }
                    line += more
                }
                done.resume(returning: line)
            }
        }
        return try line.map { try JSONDecoder().decode(KeepingStep.Outcome.self, from: $0) }
    }

    /// Kills it.
    func kill() {
        if process.isRunning { process.send(SIGKILL) }
    }

    /// Waits for its end.
    ///
    /// - Returns: Whether a SIGKILL ended it, and no fault of its own.
    func wasKilled() -> Bool {
        process.waitForEnd() == -SIGKILL
    }

    /// Tells it that no step follows, and waits for its end.
    ///
    /// - Returns: Its exit status.
    @discardableResult
    func end() -> Int32 {
        // It is closed already when this was called before.
        try? steps.close()
        return process.waitForEnd()
    }
}
