// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TerminalPrompt

struct KeyTests {
    @Test(
        arguments: [
            ([0x71], [Key.cancel]), ([0x51], [.cancel]), ([0x04], []), ([0x1B], [.cancel]),
            ([0x66], [.fallback]), ([0x46], [.fallback]), ([0x78, 0x66], [.fallback]), ([0x61, 0x62], []),
        ] as [([UInt8], [Key])]
    )
    func `keys are what they say`(bytes: [UInt8], keys: [Key]) {
        #expect(KeyParser.keys(in: bytes) == keys)
    }

    @Test(
        arguments: [
            [0x1B, 0x5B, 0x41], [0x1B, 0x4F, 0x50], [0x1B, 0x5B, 0x31, 0x35, 0x7E], [0x1B, 0x71],
            [0x1B, 0x66],
        ] as [[UInt8]]
    )
    func `an arrow or function key is neither cancel nor fallback`(bytes: [UInt8]) {
        #expect(KeyParser.keys(in: bytes).isEmpty)
    }

    @Test func `drawing again goes up as many lines as were drawn`() {
        #expect(Canvas.sequence(["a", "b"], over: 0) == "\r\u{1B}[2Ka\r\n\u{1B}[2Kb\r\n\u{1B}[J")
        #expect(Canvas.sequence(["c"], over: 2) == "\r\u{1B}[2A\u{1B}[2Kc\r\n\u{1B}[J")
    }
}
