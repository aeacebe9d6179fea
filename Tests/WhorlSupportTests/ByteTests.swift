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
}
