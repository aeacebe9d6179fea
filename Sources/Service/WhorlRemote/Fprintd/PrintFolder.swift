// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import WhorlFingerprint

/// The location of a reader's prints: the reader's driver, and the ID that the driver assigns to the reader.
package struct ReaderKey: Sendable, Hashable {
    package let driver: String
    package let number: String

    package init(driver: String, number: String) {
        self.driver = driver
        self.number = number
    }
}

/// fprintd's folders: `ROOT/user/driver/number/finger`, where a finger is one hexadecimal digit.
///
/// The folders are read but never changed. Names that are not plain path components are refused, and links are not
/// followed.
package struct PrintFolder: Sendable {
    /// The maximum size of a print, in bytes; the prints of libfprint's drivers have a few kilobytes.
    private static let largest = 4 << 20

    private let root: String

    package init(root: String) { self.root = root }

    /// Returns whether a name can be a single path component.
    package static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
            && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }
    }

    /// Returns the user's fingers that have an entry, readable or not, in order.
    package func fingers(of user: String, on reader: ReaderKey) -> [Finger] {
        guard let folder = folder(of: user, reader) else { return [] }
        let names = Set(Self.names(in: folder))
        return Finger.allCases.filter { names.contains(Self.name(of: $0)) }.sorted { $0.number < $1.number }
    }

    /// Returns the print of a finger; `nil` if it cannot be read.
    package func template(_ finger: Finger, of user: String, on reader: ReaderKey) -> Template? {
        guard let folder = folder(of: user, reader) else { return nil }
        let file = open("\(folder)/\(Self.name(of: finger))", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_size > 0,
            found.st_size <= Self.largest
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(found.st_size))
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { room in
                let rest = UnsafeMutableRawBufferPointer(rebasing: room[count...])
                return Glibc.read(file, rest.baseAddress, rest.count)
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { return nil }
            count += read
        }
        return Template(bytes: bytes)
    }

    /// Returns the readers for which a user has a folder, sorted by name.
    package func readers(of user: String) -> [ReaderKey] {
        guard Self.isPlain(user) else { return [] }
        return Self.names(in: "\(root)/\(user)").filter(Self.isPlain).sorted().flatMap { driver in
            Self.names(in: "\(root)/\(user)/\(driver)").filter(Self.isPlain).sorted().map {
                ReaderKey(driver: driver, number: $0)
            }
        }
    }

    /// Returns the users who have prints, sorted by name.
    package func users() -> [String] { Self.names(in: root).filter(Self.isPlain).sorted() }

    private func folder(of user: String, _ reader: ReaderKey) -> String? {
        let names = [user, reader.driver, reader.number]
        return names.allSatisfy(Self.isPlain) ? ([root] + names).joined(separator: "/") : nil
    }

    private static func name(of finger: Finger) -> String { String(finger.number, radix: 16) }

    private static func names(in folder: String) -> [String] {
        // A folder that does not exist or cannot be read has no usable prints.
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
