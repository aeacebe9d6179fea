// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import Foundation
import Glibc
import WhorlSecretMemory
import Testing

@testable import WhorlIPC

@Suite struct `A stream of messages` {
    private func frames(_ chunks: [[UInt8]]) throws -> [String] {
        var reader = FrameReader()
        return try chunks.flatMap { try reader.take($0[...]) }
            .map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test func `is cut at zero bytes, wherever the reads end`() throws {
        let whole = Array("{\"a\":1}\0{\"b\":2}\0{\"c\":3}\0".utf8)
        for size in 1...whole.count {
            let chunks = stride(from: 0, to: whole.count, by: size).map {
                Array(whole[$0..<min($0 + size, whole.count)])
            }
            #expect(try frames(chunks) == ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"], "reads of \(size) bytes")
        }
    }

    @Test func `with an empty message is refused`() {
        #expect(throws: FrameReader.Fault.empty) { try frames([[0]]) }
        #expect(throws: FrameReader.Fault.empty) { try frames([Array("{}\0\0".utf8)]) }
    }

    @Test func `is refused when a message exceeds 1 MiB, before its end comes`() throws {
        var reader = FrameReader()
        let megabyte = [UInt8](repeating: UInt8(ascii: "x"), count: FrameReader.largest)
        #expect(try reader.take(megabyte[...]).isEmpty)
        #expect(throws: FrameReader.Fault.tooLarge) { try reader.take([UInt8(ascii: "x")][...]) }
    }

    @Test func `gives descriptors to the last message that begins in the read that brought them`() throws {
        let descriptor = Descriptor(owning: dup(0))
        var reader = FrameReader()
        #expect(try reader.take(Array("{\"a\":".utf8)[...]).isEmpty)
        let first = try reader.take(Array("1}\0{\"b\"".utf8)[...], [descriptor])
        #expect(first.map(\.descriptors.count) == [0])
        let second = try reader.take(Array(":2}\0".utf8)[...])
        #expect(second.map(\.descriptors.count) == [1])
        let third = try reader.take(Array("{}\0{}\0".utf8)[...], [descriptor])
        #expect(third.map(\.descriptors.count) == [0, 1])
    }

    @Test func `is refused when a message collects more than eight descriptors`() throws {
        let descriptor = Descriptor(owning: dup(0))
        var reader = FrameReader()
        _ = try reader.take([UInt8(ascii: "{")][...], Array(repeating: descriptor, count: 8))
        #expect(throws: FrameReader.Fault.tooManyDescriptors) {
            try reader.take([UInt8(ascii: " ")][...], [descriptor])
        }
    }
}

@Suite struct `JSON from strangers` {
    static let good = [
        "{}", " { } ", #"{"a":[]}"#, #"{"a":[1,2,{"b":null}],"c":true,"d":false}"#, #"{"a":-0.5e+10}"#,
        #"{"a":0}"#, #"{"a":"\u00e4\ud83d\ude00\n"}"#, "{\"ä\":\"😀\"}", #"{"a":{"a":{"a":1}}}"#,
        "{\"a\":\t[ 1 ,\r\n2 ] }",
    ]

    static let bad = [
        "", " ", "[]", "1", "null", "{", "}", "{}{}", "{}x", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
        #"{,"a":1}"#,
        #"{"a":1 "b":2}"#, #"{"a":[1,]}"#, #"{"a":[,1]}"#, #"{"a":[1 2]}"#, #"{"a":01}"#, #"{"a":+1}"#,
        #"{"a":.5}"#,
        #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":-}"#, #"{"a":tru}"#, #"{"a":True}"#, #"{"a":NaN}"#, #"{"a":'b'}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\ud83d"}"#, #"{"a":"\ud83d\u0041"}"#, #"{"a":"\ude00"}"#,
        "{\"a\":\"\n\"}", #"{"a":""#, "{\"a\":\"\u{7}\"}", #"{a:1}"#, #"{"a":1}]"#, #"{"a":[1}"#,
        #"{"a":1//x"#,
    ]

    @Test(arguments: good) func `passes when it is one object`(text: String) throws {
        try JSONCheck.object(Array(text.utf8))
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
    }

    @Test(arguments: bad) func `is refused when it is not one object of RFC 8259`(text: String) {
        #expect(throws: JSONCheck.Fault.malformed) { try JSONCheck.object(Array(text.utf8)) }
    }

    @Test func `is refused when it is not UTF-8`() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] {
            let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
            #expect(throws: JSONCheck.Fault.malformed) { try JSONCheck.object(text) }
        }
    }

    @Test func `is refused when a name stands twice, however it is written`() {
        for text in [#"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"x":{"b":1,"c":2,"b":3}}"#] {
            #expect(throws: JSONCheck.Fault.doubleName) { try JSONCheck.object(Array(text.utf8)) }
        }
    }

    // Docs/Security.md: C4c
    @Test(arguments: ["\u{301}\u{316}", #"\u0301\u0316"#, "\u{f73}", "\u{1d165}"])
    func `is refused when a text has more than 30 combining marks in a row`(marks: String) throws {
        let many = String(repeating: marks, count: 160_000)
        for text in [#"{"a":"e\#(many)"}"#, #"{"\#(many)":1}"#] {
            #expect(throws: JSONCheck.Fault.tooManyMarks) { try JSONCheck.object(Array(text.utf8)) }
        }
        let few = String(repeating: marks, count: 15)
        try JSONCheck.object(Array(#"{"a":"e\#(few)e\#(few)"}"#.utf8))
    }

    // Docs/Security.md: C13j
    @Test(arguments: ["0", "[]", "{}", "\"\""])
    func `is refused when it has more values than its reader takes`(value: String) throws {
        func text(_ count: Int) -> [UInt8] {
            Array("{\"a\":[\(Array(repeating: value, count: count).joined(separator: ","))]}".utf8)
        }
        // The object and the array are values too.
        try JSONCheck.object(text(98), mostValues: 100)
        #expect(throws: JSONCheck.Fault.tooManyValues) { try JSONCheck.object(text(99), mostValues: 100) }
        try JSONCheck.object(text(300_000))
        let members = (0..<99).map { "\"\($0)\":\(value)" }.joined(separator: ",")
        try JSONCheck.object(Array("{\(members)}".utf8), mostValues: 100)
        #expect(throws: JSONCheck.Fault.tooManyValues) {
            try JSONCheck.object(Array("{\(members)}".utf8), mostValues: 99)
        }
    }

    @Test func `is refused when it lies deeper than 32, also 500,000 deep`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(#"{"a":"#.utf8) + Array(repeating: UInt8(ascii: "["), count: depth - 1)
                + Array(repeating: UInt8(ascii: "]"), count: depth - 1) + [UInt8(ascii: "}")]
        }
        try JSONCheck.object(nested(JSONCheck.deepest))
        #expect(throws: JSONCheck.Fault.tooDeep) { try JSONCheck.object(nested(JSONCheck.deepest + 1)) }
        #expect(throws: JSONCheck.Fault.tooDeep) { try JSONCheck.object(nested(500_000)) }
    }
}

@Suite struct `A secret between two processes` {
    private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span.bytes) }

    private func text(_ secret: borrowing SecretBytes) -> String {
        secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `comes out of the descriptor as it went in, and the file is wiped`() throws {
        let file = try SecretDescriptor.make(secret("correct horse"))
        let again = text(try SecretDescriptor.read(file))
        #expect(again == "correct horse")
        var left = [UInt8](repeating: 1, count: 13)
        #expect(pread(file.number, &left, 13, 0) == 13)
        #expect(left == [UInt8](repeating: 0, count: 13))
    }

    @Test(arguments: [0, 1, 13, 4096, 100_000, SecretDescriptor.largest])
    func `takes no memory once it has been read`(count: Int) throws {
        let file = try SecretDescriptor.make([UInt8](repeating: 7, count: count))
        let read = try SecretDescriptor.read(file)
        #expect(read.withUnsafeBytes { $0.count == count && $0.allSatisfy { $0 == 7 } })
        var status = stat()
        try #require(fstat(file.number, &status) == 0)
        #expect(status.st_blocks == 0 && status.st_size == off_t(count))
    }

    @Test(arguments: [0, 13, 100_000])
    func `is not read from a file with holes, which takes no memory by being refused`(count: Int) throws {
        let number = whorl_memfd_create("whorl-secret")
        let file = Descriptor(owning: number)
        let bytes = [UInt8](repeating: 7, count: count)
        try #require(pwrite(number, bytes, count, 0) == count)
        try #require(ftruncate(number, off_t(SecretDescriptor.largest)) == 0 && whorl_seal_size(number) == 0)
        var (before, after) = (stat(), stat())
        try #require(fstat(number, &before) == 0)
        #expect(throws: SecretDescriptor.Fault.wiped) { _ = try SecretDescriptor.read(file) }
        try #require(fstat(number, &after) == 0)
        #expect(after.st_blocks == before.st_blocks)
    }

    @Test func `may be empty, and may have 1 MiB`() throws {
        let empty = text(try SecretDescriptor.read(SecretDescriptor.make(secret(""))))
        #expect(empty.isEmpty)
        let large = SecretBytes(randomCount: SecretDescriptor.largest)
        let again = try SecretDescriptor.read(SecretDescriptor.make(large))
        let isSame = SecretBytes.areEqual(large, again)
        #expect(isSame)
    }

    @Test func `is not read from a file whose size can change, nor from anything but a memory file`() throws {
        let unsealed = Descriptor(owning: memoryFile())
        #expect(throws: SecretDescriptor.Fault.notSealed) { _ = try SecretDescriptor.read(unsealed) }
        let null = Descriptor(owning: open("/dev/zero", O_RDWR))
        #expect(throws: SecretDescriptor.Fault.notSealed) { _ = try SecretDescriptor.read(null) }
        let (end, _) = try UnixSocket.pair()
        #expect(throws: SecretDescriptor.Fault.notSealed) { _ = try SecretDescriptor.read(end) }
    }

    @Test func `keeps its size once it is sealed`() throws {
        let file = try SecretDescriptor.make(secret("abc"))
        #expect(ftruncate(file.number, 0) == -1)
        #expect(ftruncate(file.number, 100) == -1)
    }

    @Test func `is refused above 1 MiB`() throws {
        let large = SecretBytes(count: SecretDescriptor.largest + 1) { _ in }
        let file = try SecretDescriptor.make(large)
        #expect(throws: SecretDescriptor.Fault.tooLarge) { _ = try SecretDescriptor.read(file) }
    }

    private func memoryFile() -> Int32 {
        // An ordinary unlinked file has no seals; a memory file without them is made below.
        var path = Array("/dev/shm/whorl-test-XXXXXX".utf8CString)
        let number = mkstemp(&path)
        unlink(path)
        _ = write(number, "abc", 3)
        return number
    }
}
