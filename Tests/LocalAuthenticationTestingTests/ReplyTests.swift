// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import KeychainServices
import Testing

/// A program whose main thread waits for the reply (`Tests/Support/ReplyProbe`).
@Suite(.timeLimit(.minutes(60))) struct ReplyTests {
    private static let ways = ["dispatchMain", "runLoop", "semaphore", "right", "savedRight"]

    @Test(arguments: ways) func `the reply comes however the main thread waits for it`(way: String) throws {
        #expect(try answer(to: [way]) == .init(status: 0, text: "yes\n"))
        #expect(try answer(to: [way, "cancel"]) == .init(status: 1, text: "no -2\n"))
    }

    @Test(arguments: ["item", "itemOnMainQueue"])
    func `a guarded item is read on the main thread, and while the main queue waits for it`(way: String)
        throws
    {
        #expect(try answer(to: [way]) == .init(status: 0, text: "yes\n"))
        #expect(try answer(to: [way, "cancel"]) == .init(status: 1, text: "no \(errSecUserCanceled)\n"))
    }

    private struct Answer: Equatable {
        let status: Int32
        let text: String
    }

    private func answer(to arguments: [String]) throws -> Answer {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = ChildProgram()
        process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "ReplyProbe")
        process.arguments = arguments
        // A program that ends in the middle leaves its device's folder.
        let folder = FileManager.default.temporaryDirectory.appending(path: "reply-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        let output = try ChildPipe()
        process.standardOutput = output.writing
        try process.start()
        try output.writing.close()
        // A program that waits for ever is ended: its answer is wrong then, and not awaited.
        let deadline = DispatchSource.makeTimerSource(queue: .global())
        deadline.schedule(deadline: .now() + 300)
        deadline.setEventHandler { process.send(SIGTERM) }
        deadline.resume()
        defer { deadline.cancel() }
        let text = try output.reading.readToEnd() ?? Data()
        return Answer(status: process.waitForEnd(), text: String(decoding: text, as: UTF8.self))
    }
}
