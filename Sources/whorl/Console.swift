// SPDX-License-Identifier: Apache-2.0

import Authentication
import Fingerprint
import Glibc
import Synchronization

/// Where a command's words go: the answer to standard output, all else to standard error; with `--json`, lines of
/// JSON to standard output and nothing else there.
final class Console: Sendable {
    /// Whether output is for programs.
    let isJSON: Bool
    /// The kind of reader that the command used, once it is known.
    private let readerKind = Mutex<ReaderInfo.Kind?>(nil)
    /// One line at a time, from whatever thread.
    private let writing = Mutex(())
    private let outputFailed = Mutex(false)

    init(json: Bool) { isJSON = json }

    /// Remembers what kind of reader was used, so that a pretended one is named at the end; hardware beside a
    /// pretended reader does not hide it.
    func used(_ kind: ReaderInfo.Kind?) {
        guard let kind else { return }
        readerKind.withLock { used in
            if used == nil || used == .hardware { used = kind }
        }
    }

    /// One event on the way, where they are wanted.
    func event(_ event: JSONValue) {
        if isJSON { write(event.line + "\n", to: STDOUT_FILENO) }
    }

    /// The command's answer.
    func finish(_ answer: Answer) {
        let kind = readerKind.withLock(\.self)
        if isJSON {
            let result = answer.result.adding("readerKind", kind.map { .string($0.rawValue) })
            write(JSONValue.object([.init(name: "result", value: result)]).line + "\n", to: STDOUT_FILENO)
        } else {
            write(answer.text.map { $0 + "\n" }.joined(), to: STDOUT_FILENO)
            note(kind)
        }
    }

    /// Why there is none.
    func finish(_ failure: Failure) {
        let kind = readerKind.withLock(\.self)
        if isJSON {
            let error = failure.json.adding("readerKind", kind.map { .string($0.rawValue) })
            write(JSONValue.object([.init(name: "error", value: error)]).line + "\n", to: STDOUT_FILENO)
        } else {
            say("error", failure.message)
            if !failure.recovery.isEmpty { say("hint", failure.recovery) }
            note(kind)
        }
    }

    private func note(_ kind: ReaderInfo.Kind?) {
        switch kind {
        case nil, .hardware: break
        case .mock: say("note", "A mock reader answered, not a real one.")
        case .virtual: say("note", "A virtual reader answered, not a real one.")
        }
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
        writing.withLock { _ in
            var bytes = Array(text.utf8)[...]
            while !bytes.isEmpty {
                let put = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if put > 0 {
                    bytes = bytes.dropFirst(put)
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    if descriptor == STDOUT_FILENO {
                        outputFailed.withLock { $0 = true }
                        Interruption.outputIsGone()
                    }
                    return
                }
            }
        }
    }

    /// Whether a part of the answer could not be written: the command cannot count as done.
    var hasLostOutput: Bool { outputFailed.withLock(\.self) }
}

/// What a command answers.
struct Answer: Sendable {
    /// The members of `{"result": …}`.
    var result: JSONValue
    /// The lines for people.
    var text: [String]
    /// 0, or 1 where the answer itself says that something is wrong.
    var status = ExitStatus.success
}
