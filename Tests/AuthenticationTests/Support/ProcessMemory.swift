// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SecretMemory

/// What a core file of this process would hold.
enum ProcessMemory {
    private static let chunk = 1 << 20

    /// How often bytes stand in the memory that a core file has: all that may be written, but for what is left out of
    /// core files (the flag `dd` of `/proc/self/smaps`).
    static func count(of needle: borrowing SecretBytes) throws -> Int {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw CocoaError(.fileReadUnknown) }
        defer { close(memory) }
        let ranges = try dumped()
        // What is read here must not be found here.
        return needle.withUnsafeBytes { needle in
            guard let first = needle.baseAddress, needle.count > 0 else { return 0 }
            var found = 0
            _ = SecretBytes(count: chunk + needle.count) { room in
                for range in ranges { found += count(of: first, needle.count, in: range, memory, room) }
            }
            return found
        }
    }

    private static func count(
        of needle: UnsafeRawPointer,
        _ size: Int,
        in range: Range<UInt>,
        _ memory: Int32,
        _ room: UnsafeMutableRawBufferPointer
    ) -> Int {
        var found = 0
        for start in stride(from: range.lowerBound, to: range.upperBound, by: chunk) {
            let rest = min(UInt(room.count), range.upperBound - start)
            let count = pread(memory, room.baseAddress, Int(rest), off_t(start))
            guard count >= size, var place = room.baseAddress else { continue }
            // What begins behind the chunk is the next one's.
            let end = place + min(chunk, count - size + 1)
            while let hit = memchr(place, Int32(needle.load(as: UInt8.self)), end - place) {
                if memcmp(hit, needle, size) == 0 { found += 1 }
                place = hit + 1
            }
        }
        return found
    }

    private static func dumped() throws -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in try lines(of: "/proc/self/smaps") {
            let words = line.split(separator: " ")
            if words.count >= 5, words[1].count == 4, let range = range(words[0]) {
                current = words[1].hasPrefix("rw") ? range : nil
            } else if words.first == "VmFlags:", let range = current, !words.contains("dd") {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Foundation's own reading trusts the size, which is 0 here.
    private static func lines(of path: String) throws -> [Substring] {
        guard let file = fopen(path, "r") else { throw CocoaError(.fileReadUnknown) }
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
