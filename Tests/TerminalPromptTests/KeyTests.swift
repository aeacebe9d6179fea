// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Testing

@testable import WhorlTerminalPrompt

/// The keys in bytes that came together, with nothing after them.
private func keys(in bytes: [UInt8]) -> [KeyStroke] {
    var scanner = KeyScanner()
    var keys: [KeyStroke] = []
    for byte in bytes { if let key = scanner.take(byte) { keys.append(key) } }
    if let key = scanner.settle() { keys.append(key) }
    return keys
}

struct KeyTests {
    @Test(
        arguments: [
            ([0x71], [.byte(0x71)]), ([0x1B], [.escape]), ([0x09], [.tab]), ([0x0D], [.enter]),
            ([0x0A], [.enter]),
            ([0x08], [.backspace]), ([0x7F], [.backspace]), ([0x15], [.killLine]), ([0x17], [.killWord]),
            ([0x00], [.control]), ([0x04], [.control]), ([0x1F], [.control]), ([0x20], [.byte(0x20)]),
            ([0xC3, 0xA9], [.byte(0xC3), .byte(0xA9)]), ([0x1B, 0x1B], [.escape, .escape]),
            ([0x61, 0x1B], [.byte(0x61), .escape]),
        ] as [([UInt8], [KeyStroke])]
    )
    func `keys are what they say`(bytes: [UInt8], expected: [KeyStroke]) {
        #expect(keys(in: bytes) == expected)
    }

    @Test(
        arguments: [
            [0x1B, 0x5B, 0x41], [0x1B, 0x4F, 0x50], [0x1B, 0x5B, 0x31, 0x35, 0x7E], [0x1B, 0x71],
            [0x1B, 0x66],
            [0x1B, 0x09], [0x1B, 0x5B, 0x31, 0x3B, 0x35, 0x43], [0x1B, 0xC3, 0xA9], [0x1B, 0x5B],
        ] as [[UInt8]]
    )
    func `an arrow key, a function key and a letter with Alt are nothing, and what follows is itself`(
        bytes: [UInt8]
    ) {
        #expect(keys(in: bytes).isEmpty)
        var scanner = KeyScanner()
        #expect(bytes.compactMap { scanner.take($0) }.isEmpty)
        #expect(scanner.settle() == nil)
        #expect(scanner.take(0x78) == .byte(0x78))
    }

    @Test func `a sequence that a slow line brings in pieces is one`() {
        var scanner = KeyScanner()
        #expect(scanner.take(0x1B) == nil)
        #expect(scanner.isPending)
        #expect(scanner.take(0x5B) == nil)
        #expect(scanner.isPending)
        #expect(scanner.take(0x42) == nil)
        #expect(!scanner.isPending)
    }

    @Test func `drawing again goes up as many lines as were drawn`() {
        #expect(Canvas.sequence(["a", "b"], over: 0) == "\r\u{1B}[2Ka\r\n\u{1B}[2Kb\r\n\u{1B}[J")
        #expect(Canvas.sequence(["c"], over: 2) == "\r\u{1B}[2A\u{1B}[2Kc\r\n\u{1B}[J")
    }
}
