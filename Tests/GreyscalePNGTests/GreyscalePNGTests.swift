// SPDX-License-Identifier: Apache-2.0

import Foundation
import GreyscalePNG
import Testing

@Suite struct ReadingTests {
    /// Every grey value once.
    private let ramp = (0...255).map { UInt8($0) }

    @Test func `grey pixels come out as they are in the file`() throws {
        let picture = try GreyscalePNG.decode(HandmadePNG(width: 256, colour: .grey, rows: [ramp]).bytes)
        #expect(picture.width == 256 && picture.height == 1)
        #expect(picture.pixels == ramp)
    }

    @Test func `of coloured grey pixels the grey comes out exactly`() throws {
        let row = ramp.flatMap { [$0, $0, $0] }
        let picture = try GreyscalePNG.decode(HandmadePNG(width: 256, colour: .rgb, rows: [row]).bytes)
        #expect(picture.pixels == ramp)
    }

    @Test func `of colours the luminance comes out`() throws {
        let row: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 200, 30]
        let picture = try GreyscalePNG.decode(HandmadePNG(width: 5, colour: .rgb, rows: [row]).bytes)
        #expect(picture.pixels == [54, 182, 18, 255, 147])
    }

    @Test func `grey and alpha do not mix`() throws {
        let row = ramp.flatMap { [$0, 255 - $0] }
        let file = HandmadePNG(width: 256, colour: .greyAlpha, rows: [row]).bytes
        #expect(try GreyscalePNG.decode(file, channel: .grey).pixels == ramp)
        #expect(try GreyscalePNG.decode(file, channel: .alpha).pixels == ramp.reversed())
    }

    @Test func `colour and alpha do not mix`() throws {
        let row = ramp.flatMap { [$0, $0, $0, 255 - $0] }
        let file = HandmadePNG(width: 256, colour: .rgba, rows: [row]).bytes
        #expect(try GreyscalePNG.decode(file).pixels == ramp)
        #expect(try GreyscalePNG.decode(file, channel: .alpha).pixels == ramp.reversed())
    }

    @Test func `a palette's colours and transparencies are looked up`() throws {
        let file = HandmadePNG(
            width: 3,
            colour: .palette,
            rows: [[1, 0, 1]],
            before: [("PLTE", [7, 7, 7, 200, 200, 200]), ("tRNS", [3, 90])]
        ).bytes
        #expect(try GreyscalePNG.decode(file).pixels == [200, 7, 200])
        #expect(try GreyscalePNG.decode(file, channel: .alpha).pixels == [90, 3, 90])
    }

    @Test func `one bit is black or white`() throws {
        let file = HandmadePNG(width: 8, depth: 1, colour: .grey, rows: [[0b1010_0001]]).bytes
        #expect(try GreyscalePNG.decode(file).pixels == [255, 0, 255, 0, 0, 0, 0, 255])
    }

    @Test func `sixteen bits are rounded to eight`() throws {
        var row: [UInt8] = ramp.flatMap { value in [value, value] }
        row += [0x12, 0x90, 0x12, 0x94]
        let picture = try GreyscalePNG.decode(
            HandmadePNG(width: 258, depth: 16, colour: .grey, rows: [row]).bytes
        )
        #expect(Array(picture.pixels.prefix(256)) == ramp)
        // 0x1290 / 257 is 18.49, 0x1294 / 257 is 18.51.
        #expect(picture.pixels.suffix(2) == [18, 19])
    }

    @Test(
        arguments: [
            ("gAMA", HandmadePNG.big(100_000)), ("gAMA", HandmadePNG.big(220_000)), ("sRGB", [0]),
            ("sBIT", [3]),
            ("bKGD", [0, 99]), ("cHRM", [UInt8](repeating: 1, count: 32)),
            ("iCCP", Array("name\0\0rubbish".utf8)),
            ("zTXt", Array("Comment\0\0rubbish".utf8)),
        ] as [(String, [UInt8])]
    )
    func `a chunk about looks changes no pixel`(name: String, data: [UInt8]) throws {
        let file = HandmadePNG(width: 256, colour: .grey, rows: [ramp, ramp], before: [(name, data)])
        #expect(try GreyscalePNG.decode(file.bytes).pixels == ramp + ramp)
    }

    @Test(arguments: [HandmadePNG.Colour.grey, .rgb])
    func `a file without transparency has no alpha channel`(colour: HandmadePNG.Colour) {
        let file = HandmadePNG(width: 1, colour: colour, rows: [[1, 2, 3]]).bytes
        #expect(code { _ = try GreyscalePNG.decode(file, channel: .alpha) } == .noAlpha)
    }

    @Test(arguments: [[], [0x89], Array("GIF89a".utf8), [UInt8](repeating: 0, count: 100)] as [[UInt8]])
    func `other bytes are not a PNG file`(bytes: [UInt8]) {
        #expect(code { _ = try GreyscalePNG.decode(bytes) } == .notPNG)
    }

    @Test func `a picture above the limit is refused before its pixels are read`() {
        // One row of the promised 4097: the size alone must be enough.
        var file = HandmadePNG(width: 4097, colour: .grey, rows: [[UInt8](repeating: 0, count: 4097)]).bytes
        #expect(code { _ = try GreyscalePNG.decode(file) } == .tooLarge)
        file = HandmadePNG(width: 1, colour: .grey, rows: [[UInt8]](repeating: [0], count: 4097)).bytes
        #expect(code { _ = try GreyscalePNG.decode(file) } == .tooLarge)
        file = HandmadePNG(width: 1, colour: .grey, rows: [[UInt8]](repeating: [0], count: 4096)).bytes
        #expect(code { _ = try GreyscalePNG.decode(file) } == nil)
    }

    @Test func `a file cut anywhere is an error that says something, and never a picture`() throws {
        let file = HandmadePNG(width: 256, colour: .grey, rows: [ramp, ramp]).bytes
        // Without its last chunk, which holds nothing, the picture is still whole.
        for length in 0..<file.count - 12 {
            let error = #expect(throws: GreyscalePNGError.self, "\(length) bytes") {
                _ = try GreyscalePNG.decode(Array(file.prefix(length)))
            }
            #expect(error?.code == (length < 8 ? .notPNG : .damaged), "\(length) bytes")
            #expect(error?.cause.isEmpty == (length < 8), "\(length) bytes")
        }
    }

    @Test func `a wrong checksum is damage`() {
        var file = HandmadePNG(width: 256, colour: .grey, rows: [ramp]).bytes
        file[60] ^= 1
        #expect(code { _ = try GreyscalePNG.decode(file) } == .damaged)
    }
}

@Suite struct FuzzTests {
    /// The generator of the C standard's example, to have the same files each time.
    private struct Dice {
        var state: UInt32
        mutating func roll(_ sides: Int) -> Int {
            state = state &* 1_103_515_245 &+ 12345
            return Int(state >> 8) % sides
        }
    }

    @Test(arguments: 0..<8)
    func `mutated files give a picture of the promised size or an error`(round: Int) throws {
        let noise = (0..<64).map { UInt8(($0 * 37) & 255) }
        let files = [
            HandmadePNG(width: 8, colour: .grey, rows: [[UInt8]](repeating: Array(noise[..<8]), count: 8)),
            HandmadePNG(width: 16, colour: .rgba, rows: [noise, noise]),
            HandmadePNG(
                width: 64,
                colour: .palette,
                rows: [noise],
                before: [("PLTE", [UInt8](repeating: 9, count: 256 * 3)), ("tRNS", noise)]
            ),
        ].map(\.bytes)
        var dice = Dice(state: UInt32(round))
        var (pictures, errors) = (0, 0)
        for _ in 0..<600 {
            let source = files[dice.roll(files.count)]
            var file = source
            for _ in 0...dice.roll(4) {
                switch dice.roll(4) {
                case 0: file[dice.roll(file.count)] = UInt8(dice.roll(256))
                case 1: file[dice.roll(file.count)] ^= 1 << UInt8(dice.roll(8))
                case 2 where file.count > 40: file.remove(at: dice.roll(file.count))
                default: file.insert(UInt8(dice.roll(256)), at: dice.roll(file.count))
                }
            }
            // With right checksums, a change reaches the code behind them.
            if dice.roll(4) > 0 { Self.mendChecksums(of: &file) }
            do {
                let picture = try GreyscalePNG.decode(file, channel: dice.roll(2) == 0 ? .grey : .alpha)
                #expect(picture.pixels.count == picture.width * picture.height)
                #expect(picture.width <= GreyscalePNG.longestSide)
                #expect(picture.height <= GreyscalePNG.longestSide)
                pictures += 1
            } catch {
                #expect(!error.message.isEmpty)
                errors += 1
            }
        }
        // Both ways are taken, or the mutations are too gentle or too rough to tell anything.
        #expect(pictures > 20 && errors > 20)
    }

    private static func mendChecksums(of file: inout [UInt8]) {
        var position = 8
        while position + 12 <= file.count {
            let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = position + 8 + length
            guard end + 4 <= file.count else { return }
            file.replaceSubrange(
                end..<end + 4,
                with: HandmadePNG.big(HandmadePNG.crc(file[position + 4..<end]))
            )
            position = end + 4
        }
    }
}

@Suite struct WritingTests {
    private let directory = NSTemporaryDirectory() + "/whorl-png-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    @Test(arguments: [(1, 1), (1, 4096), (3, 5), (192, 256), (4096, 1)])
    func `what is written is read back, pixel for pixel`(width: Int, height: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/picture.png"
        let pixels = (0..<width * height).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        try GreyscalePNG.write(path, width: width, height: height, pixels: pixels)
        let picture = try GreyscalePNG.read(path)
        #expect(picture.width == width && picture.height == height)
        #expect(picture.pixels == pixels)
    }

    @Test func `incompressible pixels fit too`() throws {
        let pixels = (0..<512 * 512).map { _ in UInt8.random(in: .min ... .max) }
        let file = try GreyscalePNG.encode(width: 512, height: 512, pixels: pixels)
        #expect(try GreyscalePNG.decode(file).pixels == pixels)
    }

    @Test func `the file is 8-bit greyscale`() throws {
        let file = try GreyscalePNG.encode(width: 2, height: 3, pixels: [1, 2, 3, 4, 5, 6])
        #expect(Array(file[16..<26]) == [0, 0, 0, 2, 0, 0, 0, 3, 8, 0])
    }

    @Test func `the file is for this user alone, replaces what was there, and leaves nothing beside`() throws
    {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/picture.png"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        try GreyscalePNG.write(path, width: 1, height: 1, pixels: [77])
        #expect(try GreyscalePNG.read(path).pixels == [77])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["picture.png"])
    }

    @Test(arguments: [(0, 0, 0), (2, 2, 3), (2, 2, 5), (-1, -1, 1), (.min, 2, 0)])
    func `pixels that do not fit the size are refused`(width: Int, height: Int, count: Int) {
        let pixels = [UInt8](repeating: 0, count: count)
        #expect(
            code { _ = try GreyscalePNG.encode(width: width, height: height, pixels: pixels) } == .invalidSize
        )
    }

    @Test(arguments: [(4097, 1), (1, 4097), (.max, .max)])
    func `a size above the limit is refused`(width: Int, height: Int) {
        #expect(code { _ = try GreyscalePNG.encode(width: width, height: height, pixels: []) } == .tooLarge)
    }

    @Test func `a missing file, a missing folder and a folder are told with their reason`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let missing = #expect(throws: GreyscalePNGError.self) {
            try GreyscalePNG.read(directory + "/none.png")
        }
        #expect(missing?.code == .unreadable && missing?.systemCode == ENOENT)
        let folder = #expect(throws: GreyscalePNGError.self) { try GreyscalePNG.read(directory) }
        #expect(folder?.code == .unreadable && folder?.systemCode == EISDIR)
        let nowhere = #expect(throws: GreyscalePNGError.self) {
            try GreyscalePNG.write(directory + "/none/a.png", width: 1, height: 1, pixels: [0])
        }
        #expect(nowhere?.code == .unwritable && nowhere?.systemCode == ENOENT)
        let onFolder = #expect(throws: GreyscalePNGError.self) {
            try GreyscalePNG.write(directory, width: 1, height: 1, pixels: [0])
        }
        #expect(onFolder?.code == .unwritable && onFolder?.systemCode == EISDIR)
    }

    @Test func `a file that is too large is given up at the limit`() {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/large.png"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(truncate(path, off_t(GreyscalePNG.largestFile) + 1) == 0)  // a hole, no disk space
        #expect(code { _ = try GreyscalePNG.read(path) } == .tooLarge)
    }

    @Test func `a device and a pipe are no pictures, and nothing waits for them`() {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let pipe = directory + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in ["/dev/zero", pipe] {
            #expect(code { _ = try GreyscalePNG.read(path) } == .unreadable)
            #expect(code { try GreyscalePNG.checkPlace(path) } == .unwritable)
        }
    }
}

@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["WHORL_PRINTS"] != nil, "WHORL_PRINTS names no folder")
)
struct ExamplePrintTests {
    /// The checksums are those of the alpha bytes as another decoder gives them.
    @Test(arguments: [("loop-right.png", 256, 240, 2_362_004_398), ("whorl.png", 250, 234, 2_972_938_122)])
    func `an example print's picture is its alpha channel`(
        name: String,
        width: Int,
        height: Int,
        checksum: UInt32
    ) throws {
        let folder = try #require(ProcessInfo.processInfo.environment["WHORL_PRINTS"])
        let print = try GreyscalePNG.read(folder + "/" + name, channel: .alpha)
        #expect(print.width == width && print.height == height)
        #expect(HandmadePNG.crc(print.pixels) == checksum)
    }
}

/// The code of the error that `body` throws, or `nil` if it throws none.
private func code(_ body: () throws -> Void) -> GreyscalePNGError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? GreyscalePNGError)?.code
    }
}

// Not covered: interlaced files, and a disk that is full.
