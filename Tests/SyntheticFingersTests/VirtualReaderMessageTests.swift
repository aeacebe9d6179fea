// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyntheticFingers

@Suite struct VirtualReaderMessageTests {
    @Test func `a press is width, height and pixels`() throws {
        let pixels = (0..<16 * 17).map { UInt8($0 & 255) }
        let image = try #require(GrayImage(width: 16, height: 17, pixels: pixels))
        #expect(VirtualReaderMessage.press(image).bytes == words(16, 17) + pixels)
    }

    @Test(arguments: [(15, 16), (16, 15), (5001, 16), (16, 5001)])
    func `a picture that libfprint could not take has no bytes`(width: Int, height: Int) throws {
        let pixels = [UInt8](repeating: 0, count: width * height)
        let image = try #require(GrayImage(width: width, height: height, pixels: pixels))
        #expect(VirtualReaderMessage.press(image).bytes == nil)
    }

    @Test(arguments: VirtualReaderMessage.Retry.allCases)
    func `a retry is a finger on, the retry, and a finger off`(reason: VirtualReaderMessage.Retry) {
        let bytes = VirtualReaderMessage.retry(reason).bytes
        #expect(bytes == words(-4, 1) + words(-1, reason.rawValue) + words(-4, 0))
    }

    @Test(
        arguments: [
            (.failure(code: 5), [-2, 5]), (.failure(code: 0x100), [-2, 256]),
            (.failure(code: .min), [-2, .min]),
            (.automaticFinger(false), [-3, 0]), (.automaticFinger(true), [-3, 1]),
            (.finger(present: true), [-4, 1]), (.finger(present: false), [-4, 0]), (.unplug, [-5, 0]),
        ] as [(VirtualReaderMessage, [Int32])]
    )
    func `a command is a negative number and its argument`(message: VirtualReaderMessage, pair: [Int32]) {
        #expect(message.bytes == words(pair[0], pair[1]))
    }

    private func words(_ first: Int32, _ second: Int32) -> [UInt8] {
        [first, second].withUnsafeBytes { [UInt8]($0) }
    }
}
