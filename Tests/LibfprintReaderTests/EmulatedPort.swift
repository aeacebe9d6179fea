// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Synchronization

/// A USB port with the reader of a recording, and a program that sees it (`Tests/Support/ReaderProbe`).
///
/// What the program and the port say comes in lines, which are waited for.
final class EmulatedPort: Sendable {
    /// How the reader behaves.
    enum Behavior: String, Sendable {
        /// It answers as it was recorded, once.
        case replay
        /// It takes every request and answers none.
        case silent
    }

    /// A line that did not come.
    struct Missing: Error, CustomStringConvertible {
        let expected: String
        let seen: [String]
        var description: String { "waited for “\(expected)”; came: \(seen)" }
    }

    /// The recordings, by the names of their folders.
    static let recordings: [String] = {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return []
        }
        return names.filter { FileManager.default.fileExists(atPath: "\(folder)/\($0)/device") }.sorted()
    }()
    /// The recordings of readers whose driver reports that they were pulled out.
    ///
    /// That of vfs301 ends the process instead, with an assertion on the failed request (libfprint 1.94.5), and that of
    /// realtek frees the error of a failed enrollment twice (libfprint 1.94.9).
    static let reportingRemoval = recordings.filter { $0 != "vfs301" && !$0.hasPrefix("realtek") }
    static let folder = ProcessInfo.processInfo.environment["WHORL_RECORDINGS"]

    /// Whether umockdev is there with its bindings; tests skip without, or fail when `REQUIRE_PEERS` is set.
    static let isThere: Bool = {
        if ProcessInfo.processInfo.environment["REQUIRE_PEERS"] != nil { return true }
        let python = ChildProgram()
        python.executableURL = URL(filePath: "/usr/bin/python3")
        python.arguments = ["-c", "import gi; gi.require_version('UMockdev', '1.0')"]
        python.standardError = FileHandle.nullDevice
        guard (try? python.start()) != nil else { return false }
        return python.waitForEnd() == 0
    }()

    /// Whether the driver can be used without the recorded answers: those of image readers can.
    static func givesPictures(_ recording: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(folder ?? "")/\(recording)/capture.png")
    }

    private let process = ChildProgram()
    private let input: ChildPipe
    private let lines = Lines()

    init(_ recording: String, _ behavior: Behavior) throws {
        let support = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Support/ReaderProbe/testbed.py")
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let probe = URL(filePath: tests).deletingLastPathComponent().appending(path: "ReaderProbe")
        // The system's own: another Python may lack the bindings.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            support.path, "\(EmulatedPort.folder ?? "")/\(recording)", behavior.rawValue, probe.path,
        ]
        // Other tests may have named a virtual reader at this moment.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FP_") }.merging(
            ["LD_PRELOAD": "libumockdev-preload.so.0", "FP_DEVICE_EMULATION": "1"]
        ) { $1 }
        input = try ChildPipe()
        let output = try ChildPipe()
        process.standardInput = input.reading
        process.standardOutput = output.writing
        // libusb and umockdev say there what they do not understand of each other.
        process.standardError = FileHandle.nullDevice
        try process.start()
        try input.reading.close()
        try output.writing.close()
        let handle = output.reading
        Thread.detachNewThread { [lines] in lines.read(handle) }
    }

    deinit {
        // Nothing milder gets through: it has the signal mask of the thread that started it. The program then
        // sees the end of its input.
        process.send(SIGKILL)
        process.waitForEnd()
    }

    func say(_ command: String) throws {
        try input.writing.write(contentsOf: Data("\(command)\n".utf8))
    }

    /// Waits for a line that begins so, takes it out of those that came, and returns the rest of it.
    @discardableResult
    func expect(_ beginning: String) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(240)
        while ContinuousClock.now < deadline {
            if let rest = lines.take(beginning) { return rest }
            await lines.change()
        }
        throw Missing(expected: beginning, seen: lines.all)
    }

    /// Waits until one of these lines came, without taking it.
    func expectOne(of beginnings: String...) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(240)
        while ContinuousClock.now < deadline {
            let all = lines.all
            let came = beginnings.first { beginning in all.contains { $0.hasPrefix(beginning) } }
            if let came { return came }
            await lines.change()
        }
        throw Missing(expected: beginnings.joined(separator: " or "), seen: lines.all)
    }
}

/// What the program and the port said, and nobody took yet.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    private let changed = DispatchSemaphore(value: 0)

    var all: [String] { lines.withLock { $0 } }

    func take(_ beginning: String) -> String? {
        lines.withLock { lines in
            guard let index = lines.firstIndex(where: { $0.hasPrefix(beginning) }) else { return nil }
            return String(lines.remove(at: index).dropFirst(beginning.count))
        }
    }

    /// Returns after the next line, or after a second.
    func change() async {
        await withCheckedContinuation { done in
            Thread.detachNewThread { [changed] in
                _ = changed.wait(timeout: .now() + 1)
                done.resume()
            }
        }
    }

    func read(_ handle: FileHandle) {
        var rest = Data()
        while true {
            let data = handle.availableData
            guard !data.isEmpty else { return }
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                lines.withLock { $0.append(line) }
                changed.signal()
            }
        }
    }
}
