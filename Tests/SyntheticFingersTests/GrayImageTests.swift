// SPDX-License-Identifier: Apache-2.0

import SyntheticFingers
import Testing

@Suite struct GrayImageTests {
    @Test func `a picture keeps its pixels`() {
        let image = GrayImage(width: 3, height: 2, pixels: [0, 1, 2, 3, 4, 255])
        #expect(image?.pixels == [0, 1, 2, 3, 4, 255])
        #expect(image?.width == 3 && image?.height == 2)
    }

    @Test(arguments: [
        (3, 2, 5), (3, 2, 7), (0, 2, 0), (2, 0, 0), (-2, -3, 6), (.max, .max, 1), (.min, -1, 0),
    ])
    func `pixels that do not fit the size are refused without a trap`(width: Int, height: Int, count: Int) {
        #expect(GrayImage(width: width, height: height, pixels: [UInt8](repeating: 0, count: count)) == nil)
    }
}
