// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlAge

/// The conversation with age on standard input and output.
struct AgeConversation {
    /// The maximum number of bytes that age may send.
    private static let most = 16 << 20

    private var buffer: [UInt8] = []
    private var count = 0

    /// Reads commands until the end of age's phase.
    ///
    /// - Throws: A failure if age sends anything else, or too much.
    mutating func read(_ take: (AgeStanza) -> Void) throws {
        while let stanza = try next() {
            if stanza.arguments == ["done"] { return }
            take(stanza)
        }
        throw Self.fault
    }

    /// Sends a command, and waits for the response, whatever it is.
    ///
    /// - Throws: A failure if age closes the conversation instead.
    mutating func send(_ command: AgeStanza) throws {
        try write(command.text)
        guard try next() != nil else { throw Self.fault }
    }

    /// Ends the phase of the plugin.
    func end() throws { try write(AgeStanza(["done"]).text) }

    private static let fault = Failure.usage(
        "Standard input is not a conversation with age.",
        hint: "age starts this program itself: age -d -i FILE."
    )

    private func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.fault }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns the next stanza; `nil` at the end of the input.
    private mutating func next() throws -> AgeStanza? {
        var parser = AgeStanzaParser()
        while let line = try line() {
            do throws(AgeStanzaParser.Fault) {
                if let stanza = try parser.add(line) { return stanza }
            } catch {
                throw Self.fault
            }
        }
        guard !parser.isInStanza else { throw Self.fault }
        return nil
    }

    private mutating func line() throws -> [UInt8]? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                defer { buffer.removeSubrange(...end) }
                return Array(buffer[..<end])
            }
            guard buffer.count <= AgeStanza.most.line, count <= Self.most else { throw Self.fault }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let got = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            count += got
            buffer += bytes.prefix(got)
        }
    }
}
