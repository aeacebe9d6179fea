// SPDX-License-Identifier: Apache-2.0

@testable import GreyscalePNG
@testable import SyntheticFingers

extension FuzzTarget {
    static let pictureTargets: [FuzzTarget] = [
        FuzzTarget(name: "png", longestInput: 4096, check: png),
        FuzzTarget(name: "picture-press", longestInput: 4096, check: picturePress),
        FuzzTarget(name: "finger-file", longestInput: 256, check: fingerFile),
    ]

    /// A picture that is read has the pixels that its size says, and is written as a file of the same picture.
    private static func png(_ input: [UInt8]) throws(BrokenPromise) {
        for file in [input, PNGRepair.checksums(of: input)] {
            for channel in [GreyscalePNG.Channel.grey, .alpha] {
                guard isSmall(file), let picture = try? GreyscalePNG.decode(file, channel: channel) else {
                    continue
                }
                let sides = 1...GreyscalePNG.longestSide
                try promise(
                    sides.contains(picture.width) && sides.contains(picture.height)
                        && picture.pixels.count == picture.width * picture.height,
                    "\(picture.pixels.count) pixels of \(picture.width) × \(picture.height)"
                )
                let written = try? GreyscalePNG.encode(
                    width: picture.width,
                    height: picture.height,
                    pixels: picture.pixels
                )
                let again = written.flatMap { try? GreyscalePNG.decode($0) }
                try promise(again.map { $0 == picture } ?? false, "what was written is another picture")
            }
        }
    }

    /// What goes to the virtual reader for a picture file says its own size, or there is nothing to send.
    private static func picturePress(_ input: [UInt8]) throws(BrokenPromise) {
        let file = PNGRepair.checksums(of: input)
        guard isSmall(file),
            let picture = (try? GreyscalePNG.decode(file, channel: .alpha))
                ?? (try? GreyscalePNG.decode(file)),
            let image = GreyImage(width: picture.width, height: picture.height, pixels: picture.pixels)
        else { return }
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

    /// Whether the picture is small enough for thousands of tries a second; larger ones go the same way.
    private static func isSmall(_ file: [UInt8]) -> Bool {
        guard file.count >= 24 else { return true }
        func number(_ at: Int) -> Int { file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let (width, height) = (number(16), number(20))
        return width > GreyscalePNG.longestSide || height > GreyscalePNG.longestSide
            || width * height <= 1 << 18
    }
}

/// Gives each part of a PNG file the checksum that it should have: a fuzzer does not find one by trying.
enum PNGRepair {
    static func checksums(of file: [UInt8]) -> [UInt8] {
        var file = file
        var position = 8
        while file.count - position >= 12 {
            let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= file.count - position - 12 else { break }
            let end = position + 8 + length
            let checksum = crc(file[position + 4..<end])
            for index in 0..<4 {
                file[end + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * index))
            }
            position = end + 4
        }
        return file
    }

    /// CRC-32 as in the PNG specification, annex D.
    private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
        }
    }
}
