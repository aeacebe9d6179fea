// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import WhorlSecretMemory
import Synchronization
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The output of a command.
///
/// The answer is written to standard output, everything else to standard error. With `--json`, standard output receives
/// only lines of JSON.
final class Console: Sendable {
    /// Whether the output is JSON for programs.
    let isJSON: Bool
    /// Whether to print each note, even if it was printed before.
    private let isVerbose: Bool
    /// The kind of reader used by the command, once it is known.
    private let readerKind = Mutex<ReaderInfo.Kind?>(nil)
    /// The protection of the state, once it is known.
    private let protection = Mutex<Protection?>(nil)
    /// The lock that lets only one thread write a line at a time.
    private let writing = Mutex(())
    /// The errno of a failed write to the output; 0 if all writes succeeded.
    private let outputError = Mutex<CInt>(0)

    init(json: Bool, verbose: Bool = false) {
        isJSON = json
        isVerbose = verbose
    }

    /// Whether the output is shown to a user on a terminal.
    var isForPerson: Bool { !isJSON && isatty(STDERR_FILENO) == 1 }

    /// Records the kind of reader that was used, so that a virtual one is reported at the end.
    ///
    /// Using a real reader as well does not suppress that report.
    func used(_ kind: ReaderInfo.Kind?) {
        guard let kind else { return }
        readerKind.withLock { used in
            if used == nil || used == .hardware { used = kind }
        }
    }

    /// Reports the reader of a successful evaluation, and the failed attempts before it.
    func succeeded(_ evaluation: Evaluation) {
        used(evaluation.readerKind)
        guard !isJSON, evaluation.failedTries > 0 else { return }
        let tries = evaluation.failedTries == 1 ? "1 failed try" : "\(evaluation.failedTries) failed tries"
        write("whorl: note: \(tries) since the last success; 'whorl log' shows them\n", to: STDERR_FILENO)
    }

    /// Records how the state is protected, for the note at the end.
    func isProtected(by protection: Protection) { self.protection.withLock { $0 = protection } }

    /// Writes an event if the output is JSON.
    func event(_ event: JSONValue) {
        if isJSON { write(event.line + "\n", to: STDOUT_FILENO) }
    }

    /// Writes the command's answer.
    ///
    /// - Returns: The exit status of the program: the answer's status, or that of a failed write.
    func finish(_ answer: Answer) -> ExitStatus {
        let kind = readerKind.withLock(\.self)
        let protection = protection.withLock(\.self)
        guard isJSON else {
            let status = answer.product.map { finish(product: $0.bytes) } ?? finish(lines: answer.text)
            note(kind)
            note(protection)
            return status == .success ? answer.status : status
        }
        let result = answer.result.adding("readerKind", kind.map { .string($0.rawValue) })
            .adding("hardware", protection.map { .bool($0.isHardware) })
            .adding("tpm", protection?.usedTPM)
        let line = JSONValue.object([.init(name: "result", value: result)]).line
        let status = answer.product.map { finish(line: $0.line(closing: line)) } ?? finish(lines: [line])
        return status == .success ? answer.status : status
    }

    /// Writes the lines of an answer unchanged, such as a help text.
    func finish(lines: [String]) -> ExitStatus {
        write(lines.map { $0 + "\n" }.joined(), to: STDOUT_FILENO)
        return outputStatus
    }

    /// Writes the bytes of an answer unchanged; on a terminal, adds a line break so that the shell's prompt starts on a
    /// new line.
    private func finish(product: SecretBox) -> ExitStatus {
        let endsLine = product.bytes.withUnsafeBytes { bytes in
            write(bytes, to: STDOUT_FILENO)
            return bytes.last == UInt8(ascii: "\n")
        }
        if isatty(STDOUT_FILENO) == 1, !endsLine { write("\n", to: STDOUT_FILENO) }
        return outputStatus
    }

    /// Writes the result's line unchanged.
    private func finish(line: borrowing SecretBytes) -> ExitStatus {
        line.withUnsafeBytes { write($0, to: STDOUT_FILENO) }
        return outputStatus
    }

    /// The exit status, which reports whether the entire answer could be written.
    private var outputStatus: ExitStatus {
        let reason = outputError.withLock(\.self)
        guard reason != 0 else { return .success }
        // A consumer that closes the pipe has read enough.
        if reason != EPIPE {
            say("error", "Cannot write the output (\(String(cString: strerror(reason)))).")
            say("hint", "The command succeeded; only its output could not be written.")
        }
        return .storeFailed
    }

    /// Writes the command's failure.
    ///
    /// - Returns: The exit status of the program.
    func finish(_ failure: Failure) -> ExitStatus {
        let kind = readerKind.withLock(\.self)
        let protection = protection.withLock(\.self)
        if isJSON {
            let error = failure.json.adding("readerKind", kind.map { .string($0.rawValue) })
                .adding("tpm", protection?.usedTPM)
            write(JSONValue.object([.init(name: "error", value: error)]).line + "\n", to: STDOUT_FILENO)
        } else {
            say("error", failure.message)
            if !failure.recovery.isEmpty { say("hint", failure.recovery) }
            note(kind)
            note(protection)
        }
        return failure.status
    }

    /// Writes a line that the user should read before a prompt; programs get this information in the result.
    func tell(_ line: String) {
        if !isJSON { write("whorl: \(DisplayText.clean(line, limit: 1000))\n", to: STDERR_FILENO) }
    }

    /// Shows the lines of a JSON value without characters that control a terminal.
    func show(_ value: JSONValue) {
        if !isJSON { write(value.lines().map { $0 + "\n" }.joined(), to: STDERR_FILENO) }
    }

    /// Writes a question; the user types the answer after it.
    func ask(_ question: String) {
        write("whorl: \(DisplayText.clean(question, limit: 1000)) [y/N] ", to: STDERR_FILENO)
    }

    /// Writes a warning, which does not affect the command's answer or exit status.
    func warn(_ sentence: String) {
        if !isJSON { say("warning", sentence) }
    }

    private func note(_ protection: Protection?) {
        guard protection?.usedSimulatedTPM == true else { return }
        note("tpm", "A simulated TPM was used, not a real one.")
    }

    private func note(_ kind: ReaderInfo.Kind?) {
        switch kind {
        case nil, .hardware: break
        case .mock: note("mock", "A mock reader was used, not a real one.")
        case .virtual: note("virtual", "A virtual reader was used, not a real one.")
        }
    }

    /// Writes a note: once a day on a terminal, and every time to other outputs.
    private func note(_ name: String, _ sentence: String) {
        if isVerbose || DailyNote.isDue(name) { say("note", sentence) }
    }

    /// Writes one line for the user: lower case, without a period.
    private func say(_ what: String, _ sentence: String) {
        write("whorl: \(what): \(Console.phrase(translated(sentence)))\n", to: STDERR_FILENO)
    }

    /// Converts a sentence to command-line style: it begins in lower case, unless the first word is a name, and has no
    /// period.
    static func phrase(_ sentence: String) -> String {
        var phrase = Substring(DisplayText.clean(sentence, limit: 1000))
        if phrase.hasSuffix(".") { phrase = phrase.dropLast() }
        guard let first = phrase.first, let second = phrase.dropFirst().first else { return String(phrase) }
        // "TPM", "WHORL_READER" and "X.509" stay as they are.
        let isWord = second.isLowercase || second == " " || second == "’" || second == "'"
        return isWord ? first.lowercased() + phrase.dropFirst() : String(phrase)
    }

    private func write(_ text: String, to descriptor: CInt) {
        Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) }
    }

    private func write(_ all: UnsafeRawBufferPointer, to descriptor: CInt) {
        writing.withLock { _ in
            var done = 0
            while done < all.count {
                let rest = UnsafeRawBufferPointer(rebasing: all[done...])
                let put = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if put > 0 {
                    done += put
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    let reason = errno
                    guard descriptor == STDOUT_FILENO else { return }
                    outputError.withLock { $0 = reason }
                    return Interruption.outputIsGone()
                }
            }
        }
    }
}

/// Times in the local time zone for the user; programs get ISO 8601 in UTC.
enum LocalTime {
    /// Returns the day, such as `2026-03-01`.
    static func day(_ date: Date) -> String { text(date, "%F") }

    /// Returns the time of day, such as `17:04:05`.
    static func clock(_ date: Date) -> String { text(date, "%T") }

    /// Returns the day and the time, such as `2026-03-01 17:04:05`.
    static func second(_ date: Date) -> String { text(date, "%F %T") }

    private static func text(_ date: Date, _ format: String) -> String {
        // A stored time may be any number; times outside of the calendar are not shown.
        guard var seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down)) else { return "?" }
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "?" }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}
