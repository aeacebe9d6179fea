// SPDX-License-Identifier: Apache-2.0

@testable import SyntheticFingers

extension FuzzTarget {
    static let pictureTargets: [FuzzTarget] = [
        FuzzTarget(name: "picture-file", longestInput: 4096, check: pictureFile),
        FuzzTarget(name: "finger-file", longestInput: 256, check: fingerFile),
    ]

    /// A picture that is read has the pixels that its size says, and what goes to the virtual reader says its own size, or
    /// there is nothing to send.
    private static func pictureFile(_ input: [UInt8]) throws(BrokenPromise) {
        guard let image = try? GrayImage(pgm: input) else { return }
        try promise(image.pixels.count == image.width * image.height, "\(image.pixels.count) pixels")
        let written = Array("P5\n\(image.width) \(image.height)\n255\n".utf8) + image.pixels
        try promise((try? GrayImage(pgm: written)) == image, "what was written is another picture")
        guard let message = VirtualReaderMessage.press(image).bytes else {
            let sides = VirtualReaderMessage.pictureSides
            try promise(
                !sides.contains(image.width) || !sides.contains(image.height),
                "\(image.width) × \(image.height) was refused"
            )
            return
        }
        let words = message.prefix(8).reversed().reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
        try promise(
            words == UInt64(image.height) << 32 | UInt64(image.width)
                && Array(message.dropFirst(8)) == image.pixels,
            "the message is not the picture"
        )
    }

    /// A file that is taken for a kept finger is the one that this finger is written as.
    ///
    /// An input is what differs from a flat finger's file, and is tried as it is, filled up, and with its checksum.
    private static func fingerFile(_ input: [UInt8]) throws(BrokenPromise) {
        let filled = input + flatFinger.dropFirst(input.count)
        var summed = filled
        let checksum = FingerCache.checksum(filled.dropFirst(40))
        for index in 0..<8 { summed[32 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt64(index))) }
        for file in [input, filled, summed] {
            guard let finger = FingerCache.decode(file, seed: 7) else { continue }
            try promise(
                FingerCache.encode(finger, seed: 7) == file,
                "another file was taken for the finger's"
            )
        }
    }

    private static let flatFinger: [UInt8] = {
        let relief = [Int8](repeating: 0, count: FingerMaster.width * FingerMaster.height)
        guard let master = FingerMaster(relief: relief) else { preconditionFailure("as many as it wants") }
        return FingerCache.encode(master, seed: 7)
    }()
}
