// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Synchronization

/// The built program, run as a person or a script runs it, with a state directory of its own.
final class WhorlProgram: Sendable {
    /// A temporary directory that is gone after the test; the program's home, too.
    let home: String

    init() throws {
        // Short and plain: a socket's path has room for 107 bytes.
        home = NSTemporaryDirectory() + "whorl-test-" + UUID().uuidString.prefix(12).lowercased()
        try FileManager.default.createDirectory(
            atPath: home,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    /// The state directory, which no command has made yet.
    var state: String { home + "/state" }

    /// WHORL_BINARY, else the program beside the tests.
    static let path: String = {
        if let named = ProcessInfo.processInfo.environment["WHORL_BINARY"] { return named }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: tests).deletingLastPathComponent().appending(path: "whorl").path
    }()

    /// The finger in front of the virtual image reader.
    static let simulator = URL(filePath: path).deletingLastPathComponent().appending(path: "whorl-simulate")
        .path

    /// What a run left.
    struct Outcome: Equatable, CustomStringConvertible {
        let status: Int32
        let out: String
        let err: String

        var lines: [String] { out.split(separator: "\n").map(String.init) }
        var description: String { "status \(status)\n-- out --\n\(out)-- err --\n\(err)" }
    }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - arguments: What stands behind `whorl`.
    ///   - reader: WHORL_READER, such as `mock:match`.
    ///   - environment: More variables.
    ///   - seconds: The time after which it is killed, together with its engine; `nil` for not at all.
    ///   - onLine: Is told each line of standard output as it comes, and may act on the process.
    /// - Returns: The status and all that was written.
    /// - Throws: When the program cannot be started.
    func run(
        _ arguments: [String],
        reader: String? = nil,
        environment: [String: String] = [:],
        killedAfter seconds: Double? = nil,
        onLine: @escaping @Sendable (String, ChildProgram) -> Void = { _, _ in }
    ) async throws -> Outcome {
        try await run(
            Self.path,
            arguments,
            reader: reader,
            environment: environment,
            killedAfter: seconds,
            onLine: onLine
        )
    }

    /// Runs another program with the same environment, such as `sh` or `script`.
    func run(
        _ program: String,
        _ arguments: [String],
        reader: String? = nil,
        environment: [String: String] = [:],
        killedAfter seconds: Double? = nil,
        onLine: @escaping @Sendable (String, ChildProgram) -> Void = { _, _ in }
    ) async throws -> Outcome {
        let process = ChildProgram()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = variables(reader).merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: home)
        process.standardInput = FileHandle.nullDevice
        let (out, err) = (try ChildPipe(), try ChildPipe())
        process.standardOutput = out.writing
        process.standardError = err.writing
        return try await withCheckedThrowingContinuation { done in
            // Reading waits: on threads of their own, so that tests do not hold up each other.
            let errors = Mutex("")
            let errorsRead = DispatchSemaphore(value: 0)
            do {
                try process.start()
                try out.writing.close()
                try err.writing.close()
            } catch {
                return done.resume(throwing: error)
            }
            Thread.detachNewThread {
                let data = err.reading.readDataToEndOfFile()
                errors.withLock { $0 = String(decoding: data, as: UTF8.self) }
                errorsRead.signal()
            }
            let hasEnded = Mutex(false)
            if let seconds {
                let number = process.processIdentifier
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: seconds)
                    hasEnded.withLock { if !$0 { Killing.kill(number) } }
                }
            }
            Thread.detachNewThread {
                let output = Self.lines(of: out.reading) { onLine($0, process) }
                // Its number is not another's before it is waited for.
                hasEnded.withLock { $0 = true }
                let status = process.waitForEnd()
                errorsRead.wait()
                done.resume(returning: Outcome(status: status, out: output, err: errors.withLock(\.self)))
            }
        }
    }

    /// Reads to the end, and tells each line when it is whole.
    private static func lines(of file: FileHandle, _ tell: (String) -> Void) -> String {
        var all = Data()
        var told = 0
        while true {
            let more = file.availableData
            if more.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += more
            while let end = all[told...].firstIndex(of: UInt8(ascii: "\n")) {
                tell(String(decoding: all[told..<end], as: UTF8.self))
                told = end + 1
            }
        }
    }

    private func variables(_ reader: String?) -> [String: String] {
        let own = ProcessInfo.processInfo.environment
        var variables = [
            "HOME": home, "LANG": "C.UTF-8", "PATH": own["PATH"] ?? "/usr/bin:/bin", "WHORL_STATE_DIR": state,
            "WHORL_PROFILE": "tester", "TERM": "xterm", "XDG_RUNTIME_DIR": home,
            // Never the chip of the machine that the tests run on.
            "WHORL_TCTI": "none",
        ]
        variables["WHORL_READER"] = reader
        // What scripts/sanitize sets, so that a report ends the program as no test expects.
        for name in ["LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"] { variables[name] = own[name] }
        // Where synthetic fingers are kept, so that each is grown once.
        variables["XDG_CACHE_HOME"] = own["XDG_CACHE_HOME"] ?? own["HOME"].map { $0 + "/.cache" }
        return variables
    }

    /// Enrolls a finger on a mock, or fails the test.
    @discardableResult
    func enroll(_ finger: String = "right-index-finger", reader: String = "mock:then=match") async throws
        -> Outcome
    {
        let outcome = try await run(["enroll", finger], reader: reader)
        guard outcome.status == 0 else { throw Failed(outcome: outcome) }
        return outcome
    }

    struct Failed: Error { let outcome: Outcome }
}

/// A line of JSON as a dictionary; `nil` when it is none.
func object(_ line: String) -> [String: Any]? {
    (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
}

extension WhorlProgram.Outcome {
    /// The object in the last line, and that all lines before it are events.
    func answer(_ name: String) -> [String: Any]? {
        let objects = lines.map(object)
        guard objects.dropLast().allSatisfy({ $0?["event"] is String }) else { return nil }
        guard let last = objects.last ?? nil, last.count == 1 else { return nil }
        return last[name] as? [String: Any]
    }

    /// The code in the error line.
    var errorCode: String? { answer("error")?["code"] as? String }
}
