// SPDX-License-Identifier: Apache-2.0

import Authentication
import Fingerprint
import Glibc
import SecretMemory
import Synchronization
import WhorlSupport

/// Where a command's words go: the answer to standard output, all else to standard error; with `--json`, lines of
/// JSON to standard output and nothing else there.
final class Console: Sendable {
    /// Whether output is for programs.
    let isJSON: Bool
    /// Whether each note is printed, however often it was.
    private let isVerbose: Bool
    /// The kind of reader that the command used, once it is known.
    private let readerKind = Mutex<ReaderInfo.Kind?>(nil)
    /// What stands behind the state, once it is known.
    private let protection = Mutex<Protection?>(nil)
    /// One line at a time, from whatever thread.
    private let writing = Mutex(())
    /// Why a part of the output could not be written (errno); 0 while all of it was.
    private let outputError = Mutex<CInt>(0)

    init(json: Bool, verbose: Bool = false) {
        isJSON = json
        isVerbose = verbose
    }

    /// Remembers what kind of reader was used, so that a pretended one is named at the end; hardware beside a
    /// pretended reader does not hide it.
    func used(_ kind: ReaderInfo.Kind?) {
        guard let kind else { return }
        readerKind.withLock { used in
            if used == nil || used == .hardware { used = kind }
        }
    }

    /// Remembers what stands behind the state, for the last line.
    func isProtected(by protection: Protection) { self.protection.withLock { $0 = protection } }

    /// One event on the way, where they are wanted.
    func event(_ event: JSONValue) {
        if isJSON { write(event.line + "\n", to: STDOUT_FILENO) }
    }

    /// The command's answer.
    ///
    /// - Returns: What the program ends with: the answer's own status, or that the answer was lost.
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

    /// Lines of an answer that come as they are, such as a help text.
    func finish(lines: [String]) -> ExitStatus {
        write(lines.map { $0 + "\n" }.joined(), to: STDOUT_FILENO)
        return outputStatus
    }

    /// Bytes of an answer, as they are; on a terminal the shell's prompt begins a line of its own behind them.
    private func finish(product: SecretBox) -> ExitStatus {
        let endsLine = product.bytes.withUnsafeBytes { bytes in
            write(bytes, to: STDOUT_FILENO)
            return bytes.last == UInt8(ascii: "\n")
        }
        if isatty(STDOUT_FILENO) == 1, !endsLine { write("\n", to: STDOUT_FILENO) }
        return outputStatus
    }

    /// A line of a result, as it is.
    private func finish(line: borrowing SecretBytes) -> ExitStatus {
        line.withUnsafeBytes { write($0, to: STDOUT_FILENO) }
        return outputStatus
    }

    /// Whether all of the answer could be written.
    private var outputStatus: ExitStatus {
        let reason = outputError.withLock(\.self)
        guard reason != 0 else { return .success }
        // Who closes a pipe has read enough, and knows it.
        if reason != EPIPE {
            say("error", "The answer could not be written (\(String(cString: strerror(reason)))).")
            say("hint", "What the command was for is done; let it write elsewhere to see the answer.")
        }
        return .storeFailed
    }

    /// Why there is none.
    ///
    /// - Returns: What the program ends with.
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

    /// Something that a person should know before being asked; programs learn it from the result.
    func tell(_ line: String) {
        if !isJSON { write("whorl: \(DisplayText.clean(line, limit: 1000))\n", to: STDERR_FILENO) }
    }

    /// Something that is not the command's answer, and no failure by itself.
    func warn(_ sentence: String) {
        if !isJSON { say("warning", sentence) }
    }

    private func note(_ protection: Protection?) {
        guard protection?.usedSimulatedTPM == true else { return }
        note("tpm", "A simulated TPM answered, not a chip.")
    }

    private func note(_ kind: ReaderInfo.Kind?) {
        switch kind {
        case nil, .hardware: break
        case .mock: note("mock", "A mock reader answered, not a real one.")
        case .virtual: note("virtual", "A virtual reader answered, not a real one.")
        }
    }

    /// A note that a terminal gets once a day, and everything else each time.
    private func note(_ name: String, _ sentence: String) {
        if isVerbose || DailyNote.isDue(name) { say("note", sentence) }
    }

    /// One line for people: lower case, without a full stop.
    private func say(_ what: String, _ sentence: String) {
        write("whorl: \(what): \(Console.phrase(sentence))\n", to: STDERR_FILENO)
    }

    /// A sentence as the command line has it: it begins in lower case unless with a name, and has no full stop.
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

/// What a command answers.
struct Answer: Sendable {
    /// The members of `{"result": …}`.
    var result: JSONValue
    /// The lines for people.
    var text: [String]
    /// 0, or 1 where the answer itself says that something is wrong.
    var status = ExitStatus.success
    /// What is given as bytes: instead of the text, and as one more member of the result.
    var product: Product?
}
