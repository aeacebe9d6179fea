// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import WhorlSecretMemory
internal import WhorlSupport

/// A reader that prompts for a passcode in the terminal outside of an evaluation, in order to set, change or verify it.
///
/// The reader shows a dot for each character, and removes the dots at the end so that the length does not remain
/// visible. Input is stored only in locked memory. Backspace removes the last character, ^W the last word, and ^U all
/// input. Escape cancels the prompt, and ^C still sends SIGINT. The terminal's settings are always restored.
package struct PasscodeReader: Sendable {
    /// The maximum number of attempts to enter the same new passcode twice.
    static let confirmations = 3

    private let terminal: @Sendable () -> Terminal
    private let environment: [String: String]

    /// Creates a reader.
    ///
    /// By default, the reader uses standard error if it is the terminal; otherwise, it uses `/dev/tty`.
    package init(
        environment: [String: String] = terminalEnvironment(),
        on terminal: @escaping @Sendable () -> Terminal = Terminal.controlling
    ) {
        self.environment = environment
        self.terminal = terminal
    }

    /// Prompts for a passcode once.
    ///
    /// There is no time limit. Canceling the task ends the prompt.
    ///
    /// - Parameter question: The text before the colon. Control characters are removed from it.
    /// - Returns: The passcode as it was typed: 1 to 1,024 bytes, without a line feed.
    /// - Throws: `noTerminal` if there is no terminal for the prompt, or if another prompt is reading its keys;
    ///   `cancelled` if the prompt was canceled.
    package func read(_ question: String = "Passcode") async throws(PasscodeReadingError) -> SecretBox {
        try await read([question]) { _ in nil }
    }

    /// Prompts for a new passcode twice, and starts again if the two entries differ.
    ///
    /// - Returns: The passcode, as returned by ``read(_:)``.
    /// - Throws: The errors of ``read(_:)``; `different` if the two entries differed three times.
    package func readNew(
        _ question: String = "New passcode",
        again: String = "Repeat passcode"
    ) async throws(PasscodeReadingError) -> SecretBox {
        try await read([question, again]) { boxes in
            SecretBytes.areEqual(boxes[0].bytes, boxes[1].bytes)
                ? nil : PasscodeReadingError(.different).message
        }
    }

    /// Asks the questions in turn until `objection` accepts the answers.
    ///
    /// Returns the first answer.
    private func read(
        _ questions: [String],
        _ objection: @Sendable ([SecretBox]) -> String?
    ) async throws(PasscodeReadingError) -> SecretBox {
        let terminal = terminal()
        guard terminal.isInteractive, let input = terminal.input,
            let mode = TerminalMode(input, takesPasscode: true), let keys = KeyReader(input, typing: .always)
        else { throw PasscodeReadingError(.noTerminal) }
        // The terminal's settings are restored on every exit from here.
        defer { extendLifetime(mode) }
        var note: String?
        for _ in 0..<Self.confirmations {
            var answers: [SecretBox] = []
            for question in questions {
                let style = terminal.style(environment: environment)
                var line = QuestionLine(question, note, terminal, style)
                answers.append(try await line.answer(keys))
                note = nil
            }
            note = objection(answers)
            guard note != nil else { return answers[0] }
        }
        throw PasscodeReadingError(.different)
    }
}

/// A line with a question and the dots after it.
private struct QuestionLine {
    private let question: String
    private let style: TerminalStyle
    private let terminal: Terminal
    private var canvas: Canvas
    private var note: String?
    private var characters = 0

    init(_ question: String, _ note: String?, _ terminal: Terminal, _ style: TerminalStyle) {
        self.question = TerminalText.line(question, columns: style.columns / 2, ascii: style.ascii)
        self.note = note
        self.terminal = terminal
        self.style = style
        canvas = Canvas(terminal)
    }

    mutating func answer(_ keys: KeyReader) async throws(PasscodeReadingError) -> SecretBox {
        begin()
        // The dots are removed, however the prompt ends.
        defer { style.redraws ? canvas.draw([line(characters: 0)]) : terminal.write("\n") }
        for await key in keys.keys {
            switch key {
            case .cancel: throw PasscodeReadingError(.cancelled)
            case .fallback: continue
            case .resumed: resume()
            case .typed(let characters):
                if characters > 0 { note = nil }
                draw(characters: characters)
            case .refused(let fault):
                note = fault.text
                begin()
            case .submitted(let box): return box
            }
        }
        throw PasscodeReadingError(.cancelled)
    }

    private mutating func begin() {
        guard !style.redraws else { return draw(characters: 0) }
        terminal.write((note.map { "\n" + $0 + "\n" } ?? "") + question + ": ")
    }

    /// Shows the question again below the output of other programs.
    private mutating func resume() {
        canvas = Canvas(terminal)
        style.redraws ? draw(characters: characters) : begin()
    }

    private mutating func draw(characters: Int) {
        self.characters = characters
        guard style.redraws else { return }
        let note = note.map { style.paint(TerminalText.line($0, columns: style.columns), .yellow) }
        canvas.draw([line(characters: characters)] + (note.map { [$0] } ?? []))
    }

    private func line(characters: Int) -> String {
        PromptState.line(style, question, characters: characters)
    }
}

extension PasscodeReader {
    private typealias Outcome = Result<SecretBox, PasscodeReadingError>

    /// Reads a passcode from an open file descriptor, up to the first line feed or the end of the input.
    ///
    /// The line feed is discarded, and nothing after it is read, so that the next call returns the next line. The
    /// descriptor stays open. The bytes are stored only in locked memory. This method waits without blocking Swift's
    /// thread pool, and ends if the task is canceled.
    ///
    /// - Parameter descriptor: A file, a pipe or a socket. A terminal is not allowed, because it would show the input.
    /// - Returns: The passcode, 1 to 1,024 bytes.
    /// - Throws: `isTerminal`, `empty`, `tooLong`, `control`, `unreadable` or `cancelled`.
    package static func read(from descriptor: CInt) async throws(PasscodeReadingError) -> SecretBox {
        guard isatty(descriptor) == 0 else { throw PasscodeReadingError(.isTerminal) }
        guard let wake = PipeEnds() else { throw unreadable() }
        // Closed only after the thread has ended and a cancellation has written its byte, because both need the open
        // ends.
        defer { wake.close() }
        let outcome = await withTaskCancellationHandler {
            await onThread("whorl-passcode") { line(from: descriptor, until: wake.readEnd) }
        } onCancel: {
            wake.wake()
        }
        guard let outcome else {
            throw PasscodeReadingError(.unreadable, cause: "the system has no thread left")
        }
        return try outcome.get()
    }

    private static func line(from descriptor: CInt, until wake: CInt) -> Outcome {
        var line = PasscodeLine()
        var byte = SecretBuffer(capacity: 1)
        while true {
            byte.removeAll()
            guard wait(for: descriptor, or: wake, milliseconds: -1) else {
                return .failure(PasscodeReadingError(.cancelled))
            }
            switch byte.append({ Glibc.read(descriptor, $0.baseAddress, 1) }) {
            case 1: break
            case 0: return outcome(line.submit())
            default:
                if errno == EINTR || errno == EAGAIN { continue }
                return .failure(unreadable())
            }
            switch byte.withBytes({ $0.unsafeLoad(as: UInt8.self) }) {
            case 0x0A: return outcome(line.submit())
            case 0x00..<0x20, 0x7F: _ = line.edit(.control)
            case let value: _ = line.edit(.byte(value))
            }
            // Fail immediately, because the remaining input may be endless.
            if let fault = line.fault { return .failure(PasscodeReadingError(spoiledBy: fault)) }
        }
    }

    private static func outcome(_ submission: PasscodeLine.Submission) -> Outcome {
        switch submission {
        case .empty: .failure(PasscodeReadingError(.empty))
        case .refused(let fault): .failure(PasscodeReadingError(spoiledBy: fault))
        case .passcode(let box): .success(box)
        }
    }

    private static func unreadable() -> PasscodeReadingError {
        PasscodeReadingError(.unreadable, cause: String(cString: strerror(errno)))
    }
}
