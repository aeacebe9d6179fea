// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// A yes-or-no question on the terminal.
enum Confirmation {
    /// Whether a terminal is available to show the question and read the answer.
    static var isPossible: Bool { StandardInput.isTerminal && isatty(STDERR_FILENO) == 1 }

    /// The maximum length of an answer.
    private static let longest = 64

    /// Asks the question, and returns `true` only if the answer is `y` or `yes`.
    ///
    /// Discards keys typed before the question.
    static func ask(_ question: String, on console: Console) async throws -> Bool {
        tcflush(STDIN_FILENO, TCIFLUSH)
        console.ask(question)
        var typed: [UInt8] = []
        while typed.last != UInt8(ascii: "\n"), typed.count < longest {
            var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 0) > 0 else {
                guard await OffPoolTimer.wait(.milliseconds(50)) else { throw ServiceError(.appCancel) }
                continue
            }
            var byte: UInt8 = 0
            // The end of the input counts as no.
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return false }
            typed.append(byte)
        }
        return ["y\n", "yes\n"].contains(String(decoding: typed, as: UTF8.self).lowercased())
    }
}
