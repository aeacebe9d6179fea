// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WhorlSecretMemory

/// A search in the memory of this process.
enum ProcessMemory {
    /// Where to look: in memory that may be written.
    enum Part {
        /// What a core file holds: all but what is left out of core files (the flag `dd` of `/proc/self/smaps`).
        case coreFile
        case everything
    }

    private static let chunk = 1 << 20
    /// A sanitizer's shadow is larger: up to terabytes of addresses, and no bytes of the program.
    private static let largestRegion: UInt = 1 << 33
    /// One search at a time: each copies what it looks at, and another one would find that.
    private static let turn = NSLock()

    /// How often bytes stand in memory, but for `needle` itself and what the search needs.
    ///
    /// - Throws: where the process cannot read its own memory.
    static func count(of needle: borrowing SecretBytes, in part: Part = .coreFile) throws -> Int {
        turn.lock()
        defer { turn.unlock() }
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw CocoaError(.fileReadUnknown) }
        defer { close(memory) }
        var found = 0
        try needle.withUnsafeBytes { needle in
            _ = try SecretBytes(count: chunk) { room in
                let own = [addresses(of: needle), addresses(of: UnsafeRawBufferPointer(room))]
                // Listed with the room in place: what is mapped later is no memory of the program's work.
                for region in try regions(part) {
                    each(needle, in: region, memory, room) { place in
                        if !own.contains(where: { $0.contains(place) }) { found += 1 }
                    }
                }
            }
        }
        return found
    }

    private static func addresses(of bytes: UnsafeRawBufferPointer) -> Range<UInt> {
        let start = UInt(bitPattern: bytes.baseAddress)
        return start..<(start + UInt(bytes.count))
    }

    /// Calls `body` with the address of each place.
    private static func each(
        _ needle: UnsafeRawBufferPointer,
        in region: Range<UInt>,
        _ memory: Int32,
        _ room: UnsafeMutableRawBufferPointer,
        _ body: (UInt) -> Void
    ) {
        guard let first = needle.baseAddress, let start = room.baseAddress, needle.count > 0 else { return }
        // Most memory is zeros and small numbers: a byte that is rarer is looked for.
        let pivot = needle.firstIndex { (0x80..<0xFF).contains($0) } ?? 0
        var place = region.lowerBound
        while place < region.upperBound {
            let wanted = min(room.count, Int(region.upperBound - place))
            let got = pread(memory, start, wanted, off_t(place))
            guard got >= needle.count else {
                // Another thread has given this page back since the regions were listed.
                place += 4096
                continue
            }
            var from = start + pivot
            let end = start + (got - needle.count + pivot + 1)
            while from < end, let hit = memchr(from, Int32(needle[pivot]), end - from) {
                if memcmp(hit - pivot, first, needle.count) == 0 { body(place + UInt(hit - pivot - start)) }
                from = hit + 1
            }
            // Windows overlap, so that nothing is cut in two; what lies in both is counted once.
            let isLast = got < wanted || place + UInt(got) >= region.upperBound
            place += UInt(isLast ? got : got - needle.count + 1)
        }
    }

    private static func regions(_ part: Part) throws -> [Range<UInt>] {
        var regions: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in try lines(of: "/proc/self/smaps") {
            let words = line.split(separator: " ")
            if words.count >= 5, words[1].count == 4, let range = range(words[0]) {
                current = words[1].hasPrefix("rw") && range.count <= largestRegion ? range : nil
            } else if words.first == "VmFlags:", let range = current {
                if part == .everything || !words.contains("dd") { regions.append(range) }
            }
        }
        return regions
    }

    /// Foundation's own reading trusts the size, which is 0 here.
    private static func lines(of path: String) throws -> [Substring] {
        guard let file = fopen(path, "re") else { throw CocoaError(.fileReadUnknown) }
        defer { fclose(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&part, 1, part.count, file), count > 0 { text += part.prefix(count) }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    private static func range(_ text: Substring) -> Range<UInt>? {
        let ends = text.split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
