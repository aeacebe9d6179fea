// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Shows PAM's questions to the user on the controlling terminal.
enum TerminalConversation {
    /// A question, in libpam's memory layout.
    private struct Message {
        let style: CInt
        let text: UnsafePointer<CChar>?
    }

    /// An answer, in libpam's memory layout; libpam frees the text.
    private struct Response {
        var text: UnsafeMutablePointer<CChar>?
        var code: CInt = 0
    }

    private enum Style: CInt { case hidden = 1, shown, error, information }

    private static let success: CInt = 0
    private static let failure: CInt = 19
    /// The maximum length of an answer that PAM accepts.
    private static let longest = 512
    /// The maximum number of questions in one call.
    private static let most = 32

    /// Asks the user all of libpam's questions; if one fails, returns no answers.
    static func answer(
        _ count: CInt,
        _ messages: UnsafePointer<UnsafeRawPointer?>?,
        _ responses: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> CInt {
        let count = Int(count)
        guard let messages, let responses, count > 0, count <= most,
            let memory = calloc(count, MemoryLayout<Response>.stride)
        else { return failure }
        let answers = memory.bindMemory(to: Response.self, capacity: count)
        for index in 0..<count {
            guard let message = messages[index]?.load(as: Message.self), put(message, &answers[index]) else {
                for answer in UnsafeBufferPointer(start: answers, count: index) { forget(answer.text) }
                free(memory)
                return failure
            }
        }
        responses.pointee = memory
        return success
    }

    /// Shows one message, and reads the answer if the message is a question.
    private static func put(_ message: Message, _ response: inout Response) -> Bool {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0, let style = Style(rawValue: message.style) else { return false }
        defer { close(terminal) }
        switch style {
        case .error, .information:
            show(message, terminal)
            _ = write(terminal, "\n", 1)
            return true
        case .hidden:
            // The question appears after the echo is turned off, so that no key typed after it is shown or discarded.
            response.text = hiding(terminal) {
                show(message, terminal)
                return readLine(terminal)
            }
        case .shown:
            show(message, terminal)
            response.text = readLine(terminal)
        }
        return response.text != nil
    }

    private static func show(_ message: Message, _ terminal: CInt) {
        if let text = message.text { _ = write(terminal, text, strlen(text)) }
    }

    /// Reads a line without echo, after discarding keys typed before.
    private static func hiding<Value>(_ terminal: CInt, _ body: () -> Value?) -> Value? {
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else { return nil }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &before)
            _ = write(terminal, "\n", 1)
        }
        return body()
    }

    /// Reads a line directly into memory for libpam, without making other copies; returns `nil` after a signal, or if
    /// the line is too long.
    private static func readLine(_ terminal: CInt) -> UnsafeMutablePointer<CChar>? {
        guard let memory = calloc(longest, 1) else { return nil }
        let line = memory.bindMemory(to: CChar.self, capacity: longest)
        for place in 0..<longest {
            guard read(terminal, &line[place], 1) == 1 else { break }
            if line[place] == CChar(UInt8(ascii: "\n")) {
                line[place] = 0
                return line
            }
        }
        explicit_bzero(memory, longest)
        free(memory)
        return nil
    }

    private static func forget(_ text: UnsafeMutablePointer<CChar>?) {
        guard let text else { return }
        explicit_bzero(text, strlen(text))
        free(text)
    }
}
