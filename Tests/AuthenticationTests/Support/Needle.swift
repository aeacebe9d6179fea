// SPDX-License-Identifier: Apache-2.0

import Glibc
import SecretMemory
import Testing

/// 32 random bytes that stand nowhere in the process as they are, and a search for them.
struct Needle: Sendable {
    private static let mask: UInt8 = 0xA5
    /// A sanitizer's shadow is larger: up to terabytes of addresses, and no bytes of the program.
    private static let largestRegion: UInt = 1 << 33
    private let masked: [UInt8]

    init() { masked = (0..<32).map { _ in UInt8.random(in: 0...255) } }

    func secret() -> SecretBytes {
        SecretBytes(count: masked.count) { room in
            for (place, byte) in masked.enumerated() { room[place] = byte ^ Self.mask }
        }
    }

    /// Whether the bytes stand in any memory of this process that can be written, but for the search's own.
    var isInMemory: Bool {
        let own = secret()
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer {
            close(memory)
            window.wipe()
            window.deallocate()
        }
        let regions = Self.writableRegions()
        guard memory >= 0, !regions.isEmpty else {
            Issue.record("the process cannot read its memory")
            return true
        }
        return own.withUnsafeBytes { needle in
            regions.contains { region in
                Self.search(region, memory, window, needle) { place in
                    !Self.range(of: needle).contains(place) && !Self.range(of: .init(window)).contains(place)
                }
            }
        }
    }

    private static func range(of bytes: UnsafeRawBufferPointer) -> Range<UInt> {
        let start = UInt(bitPattern: bytes.baseAddress)
        return start..<(start + UInt(bytes.count))
    }

    /// Whether the needle stands somewhere in a region, at a place that counts.
    private static func search(
        _ region: Range<UInt>,
        _ memory: CInt,
        _ window: UnsafeMutableRawBufferPointer,
        _ needle: UnsafeRawBufferPointer,
        counts: (UInt) -> Bool
    ) -> Bool {
        var place = region.lowerBound
        while place < region.upperBound {
            let wanted = min(window.count, Int(region.upperBound - place))
            let got = pread(memory, window.baseAddress, wanted, off_t(place))
            guard let start = window.baseAddress, let wantedBytes = needle.baseAddress else { return false }
            guard got >= needle.count else {
                // Another thread has given this page back since the regions were listed.
                place += 4096
                continue
            }
            var from = start
            let last = start + (got - needle.count)
            while from <= last, let found = memchr(from, CInt(needle[0]), last - from + 1) {
                let isNeedle = memcmp(found, wantedBytes, needle.count) == 0
                if isNeedle, counts(place + UInt(found - start)) { return true }
                from = found + 1
            }
            // Windows overlap, so that nothing is cut in two.
            place += UInt(got == wanted && place + UInt(got) < region.upperBound ? got - needle.count : got)
        }
        return false
    }

    private static func writableRegions() -> [Range<UInt>] {
        guard let file = fopen("/proc/self/maps", "re") else { return [] }
        defer { fclose(file) }
        var regions: [Range<UInt>] = []
        var line = [CChar](repeating: 0, count: 4352)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let fields = text.split(separator: " ")
            let ends = fields.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
            guard ends.count == 2, ends[1] - ends[0] <= largestRegion else { continue }
            if fields.count > 1, fields[1].hasPrefix("rw") {
                regions.append(ends[0]..<ends[1])
            }
        }
        return regions
    }
}
