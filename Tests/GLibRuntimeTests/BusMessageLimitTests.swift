// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WhorlGLib

@Suite struct `Messages from a bus` {
    /// Returns a message with as many bytes of header fields and of a body.
    private func message(
        _ type: UInt8,
        fields: UInt32 = 20,
        body: UInt32,
        endian: Character = "l",
        filler: UInt8 = 0x61
    ) -> [UInt8] {
        header(type, fields: fields, body: body, endian: endian)
            + Array(repeating: filler, count: (Int(fields) + 7) / 8 * 8 + Int(body))
    }

    private func header(
        _ type: UInt8,
        fields: UInt32,
        body: UInt32,
        endian: Character = "l",
        version: UInt8 = 1
    ) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] {
            withUnsafeBytes(of: endian == "l" ? number.littleEndian : number.bigEndian, Array.init)
        }
        return [endian.asciiValue ?? 0, type, 0, version] + bytes(body) + bytes(7) + bytes(fields)
    }

    /// Returns what passes of a stream that comes in pieces.
    private func passed(_ stream: [UInt8], pieces: Int) throws -> [UInt8] {
        var limit = BusMessageLimit()
        var passed: [UInt8] = []
        var rest = stream[...]
        while !rest.isEmpty {
            passed += try limit.take(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        #expect(!limit.isInHeader && limit.wanted == 16, "the stream ends with a message")
        return passed
    }

    @Test(arguments: ["l", "B"] as [Character], 1...4)
    func `pass up to the limit of their type, in either byte order`(endian: Character, type: UInt8) throws {
        let most = UInt32(type == 2 || type == 3 ? 256 << 10 : 16 << 10)
        // Three bytes of fields take eight.
        for fields in [0, 3, 24] as [UInt32] {
            let body = most - 16 - (fields + 7) / 8 * 8
            let longest = message(type, fields: fields, body: body, endian: endian)
            #expect(longest.count == most)
            #expect(try passed(longest, pieces: 5_000) == longest)
            let longer = message(type, fields: fields, body: body + 1, endian: endian)
            #expect(try passed(longer, pieces: 5_000).isEmpty)
        }
        let fields = message(type, fields: most - 15, body: 0, endian: endian)
        #expect(try passed(fields, pieces: 5_000).isEmpty)
    }

    // Docs/Security.md: C13o
    @Test(arguments: [1, 2, 3, 5, 7, 15, 16, 17, 31, 1_000, 16_384, 100_000])
    func `of too many bytes are left out between others, however the bytes are split`(pieces: Int) throws {
        let before = message(1, body: 40, filler: 1)
        let between = message(2, fields: 0, body: 0)
        let after = message(4, fields: 9, body: 3, endian: "B", filler: 2)
        let long = message(1, body: 17_000, filler: 3)
        let longSignal = message(4, fields: 18_000, body: 1, endian: "B", filler: 4)
        let stream = before + long + between + longSignal + long + after
        #expect(try passed(stream, pieces: pieces) == before + between + after)
    }

    @Test func `are taken up to their ends, so that none brings what belongs to the next one`() throws {
        var limit = BusMessageLimit()
        #expect(limit.wanted == 16)
        let whole = message(1, fields: 3, body: 5)
        _ = try limit.take(whole[..<10])
        #expect(limit.wanted == 6 && limit.isInHeader)
        _ = try limit.take(whole[10..<16])
        #expect(limit.wanted == 13 && !limit.isInHeader)
        _ = try limit.take(whole[16...])
        #expect(limit.wanted == 16 && !limit.isInHeader)
    }

    @Test func `of a type that the specification does not have are left out`() throws {
        let known = message(4, body: 1)
        #expect(try passed(message(5, body: 10) + known + message(255, body: 0), pieces: 9) == known)
    }

    @Test func `that bring descriptors pass only as answers without an error`() throws {
        for type in 1...4 as ClosedRange<UInt8> {
            var limit = BusMessageLimit()
            let first = message(type, body: 4)
            let isAnswer = type == 2
            // They come with the first byte.
            let start = try limit.take(first[..<1], bringingDescriptors: true)
            #expect(try start + limit.take(first[1...]) == (isAnswer ? first : []))
            #expect(limit.mayBringDescriptors == isAnswer)
            #expect(try limit.take(first) == first, "the next one brings none")
        }
    }

    @Test func `end with a header that is none, and nothing passes after it`() {
        let good = header(1, fields: 8, body: 0)
        var noHeaders = [
            header(0, fields: 8, body: 0), header(1, fields: 8, body: 0, version: 2),
            header(1, fields: 8, body: 0, endian: "b"), header(1, fields: 8, body: 0, endian: "\0"),
            Array("GET / HTTP/1.1\r\n".utf8), Array("OK 0123456789abc".utf8),
            Array(repeating: 0, count: 16), Array(repeating: 255, count: 16),
        ]
        // Lengths beyond D-Bus's own, up to the last number.
        let lengths: [UInt32] = [(128 << 20) - 23, 128 << 20, 1 << 31, .max - 8, .max - 7, .max - 1, .max]
        for endian in ["l", "B"] as [Character] {
            noHeaders += lengths.map { header(1, fields: 8, body: $0, endian: endian) }
            noHeaders += lengths.map { header(2, fields: $0, body: 0, endian: endian) }
            noHeaders += lengths.map { header(4, fields: $0, body: $0, endian: endian) }
            noHeaders.append(header(4, fields: (64 << 20) + 1, body: 0, endian: endian))
        }
        for bytes in noHeaders {
            var limit = BusMessageLimit()
            #expect(throws: BusMessageLimit.NoMessage.self, "\(bytes)") { try limit.take(bytes) }
            for more in [good, [0]] {
                #expect(throws: BusMessageLimit.NoMessage.self, "\(bytes)") { try limit.take(more) }
            }
        }
    }

    @Test func `of the longest length that D-Bus allows are left out, and the next one passes`() throws {
        for start in [
            header(1, fields: 8, body: (128 << 20) - 24), header(4, fields: 64 << 20, body: 1 << 20),
        ] {
            var limit = BusMessageLimit()
            #expect(try limit.take(start).isEmpty)
            let piece = [UInt8](repeating: UInt8(ascii: "l"), count: 1 << 20)
            while limit.wanted > 16 { #expect(try limit.take(piece.prefix(limit.wanted)).isEmpty) }
            let next = message(1, body: 4)
            #expect(try limit.take(next) == next)
        }
    }

    @Test func `of any bytes at all end or pass, and never take more than they say`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var limit = BusMessageLimit()
            var count = 0
            var passed = 0
            do {
                for _ in 0..<50 {
                    // After a whole message, the bytes that are none end the next call.
                    #expect(limit.wanted > 0 || limit.isBroken)
                    let kinds: [UInt8] = [UInt8(ascii: "l"), UInt8(ascii: "B"), 0, 1, 2, 255]
                    let piece = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                        kinds.randomElement(using: &random) ?? 0
                    }
                    count += piece.count
                    passed += try limit.take(piece).count
                    #expect(passed <= count)
                }
            } catch {
                #expect(throws: BusMessageLimit.NoMessage.self) { try limit.take([0]) }
            }
        }
    }
}
