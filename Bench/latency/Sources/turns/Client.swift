// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that is measured, which takes commands and answers in lines.
final class Client {
    /// What an operation with a finger came to, in nanoseconds since the picture was written.
    struct Outcome {
        /// Until the result was known.
        let result: Int
        /// Until the operation had ended; the same, where the program does nothing after its result.
        let end: Int
        /// The finger's number, `none` or `retry`.
        let who: String
    }

    let name: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let hand: Hand
    private var pending: [UInt8] = []

    /// Starts a program that has a virtual reader of its own at `socket`; its complaints go to `log`.
    ///
    /// libfprint's virtual driver complains about each connection that gives way to the next one.
    init(_ name: String, _ program: String, _ arguments: [String], socket: String, log: FileHandle) throws {
        self.name = name
        hand = Hand(path: socket)
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        for variable in ["WHORL_READER", "FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE"] {
            environment[variable] = nil
        }
        environment["FP_VIRTUAL_IMAGE"] = socket
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = log
        try process.run()
    }

    /// Ends the program, by the end of its commands.
    func stop() {
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
    }

    /// Resident memory, in KiB.
    var resident: Int {
        let pages = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8)
        return (pages?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
            / 1024
    }

    /// A command without a finger; its one line of an answer.
    @discardableResult
    func ask(_ command: String) throws -> String {
        send(command)
        return try line()
    }

    /// A command for which fingers are put on the reader, one of `pictures` each time that one is asked for.
    @discardableResult
    func ask(_ command: String, putting pictures: some Sequence<[UInt8]>) throws -> String {
        try operate(command, pictures).answer
    }

    /// An identification or an evaluation with one press.
    func measure(_ command: String, putting picture: [UInt8]) throws -> Outcome {
        let (answer, written) = try operate(command, [picture])
        let words = answer.split(separator: " ")
        guard words.count == 4, words[0] == "result", let result = Int(words[1]), let end = Int(words[2])
        else {
            throw Failure(text: "\(name) answered: \(answer)")
        }
        return Outcome(result: result - written, end: end - written, who: String(words[3]))
    }

    private func operate(
        _ command: String,
        _ pictures: some Sequence<[UInt8]>
    ) throws -> (answer: String, written: Int) {
        var pictures = pictures.makeIterator()
        var written = 0
        send(command)
        while true {
            let answer = try line()
            guard answer == "touch" else { return (answer, written) }
            guard let picture = pictures.next() else {
                throw Failure(text: "\(name) asks for one touch too many")
            }
            written = try hand.put(picture)
        }
    }

    private func send(_ command: String) {
        input.fileHandleForWriting.write(Data((command + "\n").utf8))
    }

    private func line() throws -> String {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(text: "\(name) ended") }
            pending += data
        }
    }
}

/// Why nothing could be measured.
struct Failure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
