// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A directory that caches computed fingers, because growing one takes noticeable time in a debug build.
///
/// A cache changes only how long it takes to obtain a finger, never the finger itself. Errors are not reported. If a
/// file is missing, damaged or of another version, the finger is computed again, and a directory that cannot be written
/// to is left unchanged. Several processes can use one directory at the same time.
///
/// Use it only for synthetic fingers, because the stored data is not protected.
package struct FingerCache: Sendable {
    /// The path of the directory, which is created when the first finger is stored.
    package let directory: String

    /// The cache in `$XDG_CACHE_HOME/whorl/fingers`, or else in `~/.cache/whorl/fingers`.
    ///
    /// This is `nil` if neither variable contains an absolute path.
    package static var standard: FingerCache? {
        standard { name in getenv(name).map { String(cString: $0) } }
    }

    /// Returns the standard cache, using `variable` to read environment variables.
    static func standard(variable: (String) -> String?) -> FingerCache? {
        // The XDG base directory specification requires relative paths to be ignored.
        if let cache = variable("XDG_CACHE_HOME"), cache.hasPrefix("/") {
            return FingerCache(directory: cache + "/whorl/fingers")
        }
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        return FingerCache(directory: home + "/.cache/whorl/fingers")
    }

    /// Returns the path of the file for a seed's finger, whether or not the file exists.
    package func path(seed: UInt64) -> String {
        let digits = String(seed, radix: 16)
        return directory + "/" + String(repeating: "0", count: 16 - digits.count) + digits + ".finger"
    }

    /// Returns the finger for `seed`, which is read from a valid file or else computed and stored.
    func master(seed: UInt64) -> FingerMaster {
        let path = path(seed: seed)
        if let bytes = readBytes(of: path), let master = Self.decode(bytes, seed: seed) {
            return master
        }
        let master = FingerMaster(seed: seed)
        store(Self.encode(master, seed: seed), at: path)
        return master
    }
}

// MARK: - Format

extension FingerCache {
    /// The first 8 bytes of a file, "WhrlFngr".
    private static let magic: UInt64 = 0x7267_6E46_6C72_6857

    /// The version of the computation.
    ///
    /// Increment it whenever a change makes seeds result in different fingers.
    private static let version: UInt64 = 1

    /// The size of the header in bytes.
    ///
    /// It consists of magic, version, width and height, seed, and checksum, which are little-endian and take up 8 bytes
    /// each.
    private static let headerSize = 40

    private static let fileSize = headerSize + FingerMaster.width * FingerMaster.height

    static func encode(_ master: FingerMaster, seed: UInt64) -> [UInt8] {
        let relief = master.relief.map { UInt8(bitPattern: $0) }
        return header(seed: seed, checksum: checksum(relief)) + relief
    }

    static func decode(_ bytes: [UInt8], seed: UInt64) -> FingerMaster? {
        guard bytes.count == fileSize else { return nil }
        let relief = bytes[headerSize...]
        guard bytes.starts(with: header(seed: seed, checksum: checksum(relief))) else { return nil }
        return FingerMaster(relief: relief.map { Int8(bitPattern: $0) })
    }

    private static func header(seed: UInt64, checksum: UInt64) -> [UInt8] {
        let size = UInt64(FingerMaster.width) << 32 | UInt64(FingerMaster.height)
        return [magic, version, size, seed, checksum].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
    }

    /// Returns the 64-bit FNV-1a checksum, which detects damage but not tampering.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return hash
    }
}

// MARK: - Files

extension FingerCache {
    /// Returns the bytes of the whole file, or `nil` if the file does not have the right size.
    private func readBytes(of path: String) -> [UInt8]? {
        // O_NONBLOCK, so that a named pipe in place of the file cannot block.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }

        // Room for one more byte reveals a file that is too long.
        let room = Self.fileSize + 1
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            while count < room, let base = buffer.baseAddress {
                let got = read(file, base + count, room - count)
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { break }
                count += got
            }
        }
    }

    /// Writes a temporary file and renames it so that readers see either a complete file or no file.
    private func store(_ bytes: [UInt8], at path: String) {
        makeDirectory()
        let temporary = path + "." + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }

        let written = Self.writeAll(bytes, to: file)
        let closed = close(file) == 0
        if !written || !closed || rename(temporary, path) != 0 {
            unlink(temporary)
        }
    }

    private static func writeAll(_ bytes: [UInt8], to file: CInt) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                let put = write(file, base + done, bytes.count - done)
                if put < 0 && errno == EINTR { continue }
                guard put > 0 else { return false }
                done += put
            }
            return true
        }
    }

    /// Creates the directory and its missing parents, accessible only to this user.
    private func makeDirectory() {
        var path = ""
        for part in directory.split(separator: "/") {
            path += (path.isEmpty && !directory.hasPrefix("/") ? "" : "/") + part
            mkdir(path, 0o700)
        }
    }
}
