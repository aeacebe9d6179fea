// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The presses that `presses` of the matcher's benchmark writes: thirteen of each finger.
struct Pictures {
    private static let size = 192 * 256
    private static let presses = 13

    private let bytes: [UInt8]

    init(path: String) throws {
        bytes = Array(try Data(contentsOf: URL(filePath: path)))
        guard bytes.count >= 10 * Pictures.presses * Pictures.size else {
            throw Failure(text: "\(path) holds fewer than ten fingers")
        }
    }

    /// One press: 0 to 9 are normal ones.
    func picture(finger: Int, press: Int) -> [UInt8] {
        let start = (finger * Pictures.presses + press) * Pictures.size
        return Array(bytes[start..<start + Pictures.size])
    }

    /// Those that a finger is enrolled with, and one that confirms it.
    func enrollment(finger: Int) -> [[UInt8]] { (0...5).map { picture(finger: finger, press: $0) } }

    /// Those that a finger is measured with: not the ones that it was enrolled with.
    func touches(finger: Int) -> [[UInt8]] { (5...9).map { picture(finger: finger, press: $0) } }
}
