// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SyntheticFingers

@Suite struct FingerCacheTests {
    private static let seed: UInt64 = 0xCAFE
    private static let master = FingerMaster(seed: seed)

    @Test func `a stored finger is read back, not computed`() throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path)
        let other = FingerMaster(seed: 1)
        // A file that is sound but holds another finger's ridges shows where the answer comes from.
        try Data(FingerCache.encode(other, seed: Self.seed)).write(to: cache.url(Self.seed))
        #expect(cache.master(seed: Self.seed) == other)
    }

    @Test func `a cached finger gives the same presses as one computed anew`() throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path + "/made/on/demand")
        let first = SyntheticFinger(seed: Self.seed, cache: cache).press(2)
        #expect(FileManager.default.fileExists(atPath: cache.path(seed: Self.seed)))
        #expect(SyntheticFinger(seed: Self.seed, cache: cache).press(2) == first)
        #expect(SyntheticFinger(seed: Self.seed, cache: nil).press(2) == first)
    }

    @Test func `storing leaves one file, and no other`() throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path)
        _ = cache.master(seed: Self.seed)
        #expect(try directory.contents == ["000000000000cafe.finger"])
    }

    enum Damage: CaseIterable {
        case empty, cut, longer, magic, version, size, seed, checksum, pixel, garbage

        func applied(to sound: [UInt8]) -> [UInt8] {
            var bytes = sound
            switch self {
            case .empty: bytes = []
            case .cut: bytes.removeLast()
            case .longer: bytes.append(0)
            case .magic: bytes[0] ^= 1
            case .version: bytes[8] ^= 1
            case .size: bytes[16] ^= 1
            case .seed: bytes[24] ^= 1
            case .checksum: bytes[32] ^= 1
            case .pixel: bytes[bytes.count - 1] ^= 1
            case .garbage: bytes = [UInt8](repeating: 0x5A, count: sound.count)
            }
            return bytes
        }
    }

    @Test(arguments: Damage.allCases)
    func `a damaged file is computed anew and replaced`(damage: Damage) throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path)
        let sound = FingerCache.encode(Self.master, seed: Self.seed)
        try Data(damage.applied(to: sound)).write(to: cache.url(Self.seed))

        #expect(cache.master(seed: Self.seed) == Self.master)
        #expect(try [UInt8](Data(contentsOf: cache.url(Self.seed))) == sound)
    }

    @Test func `a file for one seed is not taken for another`() throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path)
        try Data(FingerCache.encode(FingerMaster(seed: 1), seed: 1)).write(to: cache.url(Self.seed))
        #expect(cache.master(seed: Self.seed) == Self.master)
    }

    @Test func `a directory that cannot be made is ignored`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/file"
        try Data([1]).write(to: URL(fileURLWithPath: file))
        #expect(FingerCache(directory: file + "/below").master(seed: Self.seed) == Self.master)
        #expect(try directory.contents == ["file"])
    }

    @Test func `a directory in the file's place is left alone`() throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path)
        let inside = cache.path(seed: Self.seed) + "/inside"
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
        #expect(cache.master(seed: Self.seed) == Self.master)
        #expect(try directory.contents == ["000000000000cafe.finger"])
    }

    @Test func `a named pipe in the file's place does not hang`() throws {
        let directory = try TemporaryDirectory()
        let cache = FingerCache(directory: directory.path)
        try #require(mkfifo(cache.path(seed: Self.seed), 0o600) == 0)
        #expect(cache.master(seed: Self.seed) == Self.master)
    }

    @Test(
        arguments: [
            (["XDG_CACHE_HOME": "/c", "HOME": "/h"], "/c/whorl/fingers"),
            (["HOME": "/h"], "/h/.cache/whorl/fingers"),
            (["XDG_CACHE_HOME": "relative", "HOME": "/h"], "/h/.cache/whorl/fingers"),
            (["XDG_CACHE_HOME": "", "HOME": "h"], nil),
            ([:], nil),
        ] as [([String: String], String?)]
    )
    func `the standard directory follows the environment`(environment: [String: String], path: String?) {
        #expect(FingerCache.standard { environment[$0] }?.directory == path)
    }
}

extension FingerCache {
    fileprivate func url(_ seed: UInt64) -> URL {
        URL(fileURLWithPath: path(seed: seed))
    }
}
