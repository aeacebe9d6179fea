// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A stanza of an age header, or a message between age and a plugin: arguments in one line, and a body.
///
/// Source: C2SP age.md, "Recipient stanza"; age-plugin.md, "IPC protocol".
package struct AgeStanza: Sendable, Hashable {
    /// The maximum number of bytes of the first line, and of a body.
    package static let most = (line: 20_000, body: 65_536)

    /// The arguments, of which the first is the kind: at least one, each of printable ASCII characters without spaces.
    package let arguments: [String]
    /// The body.
    package let body: [UInt8]

    package init(_ arguments: [String], body: [UInt8] = []) {
        self.arguments = arguments
        self.body = body
    }

    /// The stanza as text, with a line feed after each line.
    package var text: String {
        let body = Base64.encode(self.body)
        let rows = stride(from: 0, through: body.utf8.count, by: 64).map { start in
            String(decoding: body.utf8.dropFirst(start).prefix(64), as: UTF8.self)
        }
        return "-> " + arguments.joined(separator: " ") + "\n" + rows.map { $0 + "\n" }.joined()
    }
}

/// Reads stanzas line by line.
package struct AgeStanzaParser: Sendable {
    /// The reason why lines are not stanzas.
    package struct Fault: Error {}

    private var arguments: [String]?
    private var body: [UInt8] = []

    package init() {}

    /// Whether a stanza has begun and not ended.
    package var isInStanza: Bool { arguments != nil }

    /// Adds a line without its line feed.
    ///
    /// - Returns: The stanza that the line ends, if any.
    /// - Throws: ``Fault`` if the line cannot follow, or the stanza is too large.
    package mutating func add(_ line: some Collection<UInt8>) throws(Fault) -> AgeStanza? {
        guard let arguments else {
            self.arguments = try Self.arguments(line)
            return nil
        }
        guard line.count <= 64, let part = Base64.decode(line), body.count + part.count <= AgeStanza.most.body
        else { throw Fault() }
        body += part
        guard line.count < 64 else { return nil }
        defer {
            self.arguments = nil
            body = []
        }
        return AgeStanza(arguments, body: body)
    }

    private static func arguments(_ line: some Collection<UInt8>) throws(Fault) -> [String] {
        guard line.count <= AgeStanza.most.line, line.starts(with: "-> ".utf8) else { throw Fault() }
        let words = line.dropFirst(3).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { 0x21...0x7E ~= $0 } }) else { throw Fault() }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Base64 without padding, in its only valid form.
enum Base64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let padded = Data(bytes).base64EncodedString()
        return String(padded.prefix { $0 != "=" })
    }

    /// Decodes a text; returns `nil` for a text that ``encode(_:)`` does not return.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let padding = [UInt8](repeating: 0x3D, count: (4 - text.count % 4) % 4)
        guard let bytes = Data(base64Encoded: Data(text) + padding), encode(bytes).utf8.elementsEqual(text)
        else { return nil }
        return Array(bytes)
    }
}
