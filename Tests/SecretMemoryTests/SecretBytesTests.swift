// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import WhorlSecretMemory

@Suite(.serialized)
struct SecretBytesTests {
    struct Refusal: Error, Equatable {}

    @Test func `holds what its initializer wrote, and zeros where it wrote nothing`() {
        let secret = SecretBytes(count: 5) { room in
            room[0] = 7
            room[4] = 9
        }
        let count = secret.count
        let bytes = secret.withUnsafeBytes { Array($0) }
        let size = secret.withBytes { $0.byteCount }
        #expect(count == 5)
        #expect(bytes == [7, 0, 0, 0, 9])
        #expect(size == 5)
    }

    @Test(arguments: [0, 1, 255, 256, 257, 4096, 10_000])
    func `random secrets of any size differ`(count: Int) {
        let first = SecretBytes(randomCount: count)
        let second = SecretBytes(randomCount: count)
        guard count >= 255 else { return }
        let areEqual = SecretBytes.areEqual(first, second)
        #expect(!areEqual)
        // The last bytes are filled too: 16 zeros in a row come once in 2^128 times.
        let end = first.withUnsafeBytes { Array($0.suffix(16)) }
        #expect(end.contains { $0 != 0 })
    }

    @Test func `equality is that of all bytes and of the size`() {
        func secret(_ bytes: [UInt8]) -> SecretBytes {
            SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
        }
        func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
            SecretBytes.areEqual(secret(first), secret(second))
        }
        #expect(areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!areEqual([1, 2, 3], [0, 2, 3]))
        #expect(!areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!areEqual([1, 2, 3], [1, 2]))
        #expect(areEqual([], []))
    }

    @Test func `a copy is made from a span`() {
        let first = SecretBytes(randomCount: 32)
        let second = first.withBytes { SecretBytes(copying: $0) }
        let areEqual = SecretBytes.areEqual(first, second)
        #expect(areEqual)
    }

    @Test func `an initializer that throws gives its error`() {
        #expect(throws: Refusal()) {
            _ = try SecretBytes(count: 8) { room throws(Refusal) in
                room[0] = 1
                throw Refusal()
            }
        }
    }

    /// In a process of its own: here another test's secret may lie there by now.
    @Test func `the pages are given back at the end`() async {
        await #expect(processExitsWith: .success) {
            let secret = SecretBytes(randomCount: 100)
            let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            precondition(Self.kernelFlags(of: address)?.contains("dd") == true)
            _ = consume secret
            precondition(Self.kernelFlags(of: address)?.contains("dd") != true)
        }
    }

    @Test func `wiping leaves zeros`() {
        let pages = SecretPages.allocate(atLeast: 40)
        defer { SecretPages.release(pages) }
        SecretPages.fillRandomly(pages)
        #expect(pages.contains { $0 != 0 })
        pages.wipe()
        #expect(pages.allSatisfy { $0 == 0 })
    }

    @Test func `the pages are left out of core dumps and locked`() throws {
        let secret = SecretBytes(randomCount: 100)
        let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let flags = try #require(Self.kernelFlags(of: address))
        #expect(flags.contains("dd"))
        let isLocked = secret.isLocked
        #expect(flags.contains("lo") == isLocked)
    }

    @Test func `a system that locks no memory gets a secret all the same, which says so`() async {
        await #expect(processExitsWith: .success) {
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            precondition(setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0)
            if geteuid() == 0 { precondition(setuid(65534) == 0) }
            let secret = SecretBytes(randomCount: 32)
            precondition(!secret.isLocked)
            precondition(secret.withUnsafeBytes { $0.contains { $0 != 0 } })
        }
    }

    /// The flags that the kernel shows for the mapping of an address.
    private static func kernelFlags(of address: UInt) -> [Substring]? {
        var isInside = false
        for line in lines(of: "/proc/self/smaps") {
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if range.count == 2 { isInside = range[0] <= address && address < range[1] }
            if isInside, line.hasPrefix("VmFlags:") { return line.split(separator: " ").map { $0 } }
        }
        return nil
    }

    private static func lines(of path: String) -> [Substring] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&part, 1, part.count, file), count > 0 { text += part.prefix(count) }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
