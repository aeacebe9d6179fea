// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSupport

struct ByteTests {
    @Test func `a reader gives back what a writer wrote, and nothing after it`() {
        var writer = ByteWriter("v1")
        writer.append(UInt16(0x1234))
        writer.append(Int64(-2))
        writer.append(sized: "ä")
        writer.append(sized: [7, 8], by: UInt16.self)
        writer.append(raw: [9])
        #expect(writer.bytes.count == 2 + 2 + 8 + 6 + 4 + 1)
        #expect(Array(writer.bytes[2..<4]) == [0x12, 0x34])
        #expect(Array(writer.bytes[12..<18]) == [0, 0, 0, 2, 0xC3, 0xA4])
        var reader = ByteReader(Data(writer.bytes))
        #expect(reader.take(2).map { Array($0) } == Array("v1".utf8))
        #expect(reader.number(UInt16.self) == 0x1234)
        #expect(reader.number(Int64.self) == -2)
        #expect(reader.text() == "ä")
        #expect(reader.sized(by: UInt16.self).map { Array($0) } == [7, 8])
        #expect(!reader.isAtEnd)
        #expect(reader.number(UInt8.self) == 9)
        #expect(reader.isAtEnd)
        #expect(reader.number(UInt8.self) == nil)
    }

    @Test func `a read past the end is nil and takes nothing`() {
        var reader = ByteReader([0, 0, 0, 9, 1] as [UInt8])
        #expect(reader.take(-1) == nil)
        #expect(reader.take(6) == nil)
        #expect(reader.number(UInt64.self) == nil)
        #expect(reader.rest.count == 5)
        #expect(reader.sized() == nil)
        var huge = ByteReader([0xFF, 0xFF, 0xFF, 0xFF] as [UInt8])
        #expect(huge.sized() == nil)
        var text = ByteReader([0, 0, 0, 1, 0xFF] as [UInt8])
        #expect(text.text() == nil)
    }

    @Test(arguments: ["", "a", "Zoë\u{0}", "e\u{301}", "🖐🏽", String(repeating: "指", count: 100)])
    func `a text is the same after it was written and read`(text: String) {
        var writer = ByteWriter()
        writer.append(sized: text)
        var reader = ByteReader(writer.bytes)
        #expect(reader.text().map { Array($0.utf8) } == Array(text.utf8))
        // Bytes that lie in several pieces.
        #expect(String(utf8: text.utf8.lazy.map { $0 }).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(arguments: [[0xC3], [0xE6, 0x8C], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0x61, 0xFF]] as [[UInt8]])
    func `bytes that are not UTF-8 are no text`(bytes: [UInt8]) {
        #expect(String(utf8: bytes) == nil)
        #expect(String(utf8: bytes.lazy.map { $0 }) == nil)
    }
}
