// SPDX-License-Identifier: Apache-2.0

@testable import WhorlAge

extension FuzzTarget {
    static let ageTargets: [FuzzTarget] = [
        FuzzTarget(name: "age-plugin", longestInput: 8192, check: plugin),
        FuzzTarget(name: "age-names", longestInput: 2048, check: names),
    ]

    /// Each command has one form, and no command makes an error of one that the library would throw.
    private static func plugin(_ input: [UInt8]) throws(BrokenPromise) {
        var parser = AgeStanzaParser()
        var (wrapping, unwrapping) = (AgeWrapping(), AgeUnwrapping())
        var lines: [UInt8] = []
        for line in input.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
            lines += line + [0x0A]
            guard case .success(let added) = Result(catching: { try parser.add(line) }) else { break }
            guard let stanza = added else { continue }
            try promise(stanza.text.utf8.elementsEqual(lines), "a stanza has two forms")
            wrapping.take(stanza)
            unwrapping.take(stanza)
            lines = []
        }
        let (candidates, errors) = unwrapping.candidates()
        try promise(Set(candidates.map(\.file)).count == candidates.count, "a file is decrypted twice")
        try promise(
            candidates.allSatisfy { unwrapping.identities.indices.contains($0.identity) },
            "no identity"
        )
        let kinds: Set = ["identity", "stanza"]
        try promise(errors.allSatisfy { kinds.contains($0.arguments[1]) }, "another error")
        do {
            let commands = try wrapping.commands()
            try promise(commands.allSatisfy { $0.arguments.count >= 2 }, "a command without its file")
        } catch let error as BrokenPromise {
            throw error
        } catch {
            throw BrokenPromise("a recipient that was accepted fails: \(error)")
        }
    }

    /// A recipient and an identity have one text.
    private static func names(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        if let recipient = AgeTagRecipient(text) {
            try promise(recipient.text == text, "a recipient has two texts")
        }
        if let identity = AgeIdentity(text) {
            try promise(identity.text == text, "an identity has two texts")
        }
        if let bytes = Base64.decode(input) {
            try promise(Base64.encode(bytes).utf8.elementsEqual(input), "bytes have two texts")
        }
    }
}
