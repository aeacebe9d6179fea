// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
package import WhorlFingerprint

/// The place of a reader's prints: its driver, and the number that the driver gives it.
package struct ReaderKey: Sendable, Hashable {
    package let driver: String
    package let number: String

    package init(driver: String, number: String) {
        self.driver = driver
        self.number = number
    }
}

/// The prints of all users, by reader and finger.
package protocol PrintStore: Sendable {
    /// Returns the fingers of a user for which there is something, whether or not it can be read, in their order.
    func fingers(of user: String, on reader: ReaderKey) -> [Finger]
    /// Returns the print of a finger; `nil` for one that cannot be read.
    func template(_ finger: Finger, of user: String, on reader: ReaderKey) -> Template?
    /// Keeps a print, which is there after a crash too.
    func save(_ template: Template, _ finger: Finger, of user: String, on reader: ReaderKey)
        throws(PrintStoreFault)
    /// Deletes the print of a finger.
    func remove(_ finger: Finger, of user: String, on reader: ReaderKey) throws(PrintStoreFault)
    /// Returns the users who have prints.
    func users() -> [String]
    /// Returns all for which there is something on a reader, whether or not it can be read.
    ///
    /// - Throws: the reason for which some may be missing.
    func everything(on reader: ReaderKey) throws(PrintStoreFault) -> [(user: String, finger: Finger)]
}

/// The reason for which prints could not be changed.
package struct PrintStoreFault: Error, Sendable, Hashable {
    package let cause: String

    package init(_ cause: String) { self.cause = cause }
}

/// fprintd's folders: `ROOT/user/driver/number/finger`, where a finger is one hexadecimal digit.
///
/// A name that is not one plain component is refused, links are not followed, and nothing is deleted because it could
/// not be read.
package struct PrintFolder: PrintStore {
    /// The largest print that is read: those of libfprint's drivers have some kilobytes.
    private static let largest = 4 << 20

    private let root: String

    package init(root: String) { self.root = root }

    /// Returns whether a name can stand in a path as one component.
    package static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
            && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }
    }

    package func fingers(of user: String, on reader: ReaderKey) -> [Finger] {
        guard let folder = folder(of: user, reader) else { return [] }
        let names = Set(Self.names(in: folder))
        return Finger.allCases.filter { names.contains(Self.name(of: $0)) }.sorted { $0.number < $1.number }
    }

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

    package func save(
        _ template: Template,
        _ finger: Finger,
        of user: String,
        on reader: ReaderKey
    ) throws(PrintStoreFault) {
        guard let folder = folder(of: user, reader) else { throw PrintStoreFault("a name is not plain") }
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Self.fault(path) }
        }
        let name = Self.name(of: finger)
        let draft = "\(folder)/.\(name).new"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.fault(draft) }
        let isWritten = Self.write(template.bytes, to: file)
        close(file)
        guard isWritten, rename(draft, "\(folder)/\(name)") == 0 else {
            let fault = Self.fault("\(folder)/\(name)")
            unlink(draft)
            throw fault
        }
        Self.settle(folder)
    }

    package func remove(_ finger: Finger, of user: String, on reader: ReaderKey) throws(PrintStoreFault) {
        guard let folder = folder(of: user, reader) else { throw PrintStoreFault("a name is not plain") }
        let path = "\(folder)/\(Self.name(of: finger))"
        guard unlink(path) == 0 || errno == ENOENT else { throw Self.fault(path) }
        Self.settle(folder)
        // rmdir(2) takes empty folders only; one that is not stays.
        guard rmdir(folder) == 0, rmdir("\(root)/\(user)/\(reader.driver)") == 0 else { return }
        rmdir("\(root)/\(user)")
    }

    /// Returns the readers for which a user has a folder, in the order of their names.
    package func readers(of user: String) -> [ReaderKey] {
        guard Self.isPlain(user) else { return [] }
        return Self.names(in: "\(root)/\(user)").filter(Self.isPlain).sorted().flatMap { driver in
            Self.names(in: "\(root)/\(user)/\(driver)").filter(Self.isPlain).sorted().map {
                ReaderKey(driver: driver, number: $0)
            }
        }
    }

    package func users() -> [String] { Self.names(in: root).filter(Self.isPlain).sorted() }

    package func everything(
        on reader: ReaderKey
    ) throws(PrintStoreFault) -> [(user: String, finger: Finger)] {
        var all: [(user: String, finger: Finger)] = []
        for user in try Self.allNames(in: root) {
            guard let folder = folder(of: user, reader) else { throw PrintStoreFault("a name is not plain") }
            let names = try Self.allNames(in: folder)
            all += Finger.allCases.filter { names.contains(Self.name(of: $0)) }.map { (user, $0) }
        }
        return all
    }

    /// Returns the names in a folder; none where it is not there.
    private static func allNames(in folder: String) throws(PrintStoreFault) -> Set<String> {
        guard let opened = opendir(folder) else {
            guard errno == ENOENT || errno == ENOTDIR else { throw fault(folder) }
            return []
        }
        defer { closedir(opened) }
        var names: Set<String> = []
        while true {
            errno = 0
            guard let entry = readdir(opened) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.insert(name)
        }
        guard errno == 0 else { throw fault(folder) }
        return names.subtracting([".", ".."])
    }

    private func folder(of user: String, _ reader: ReaderKey) -> String? {
        let names = [user, reader.driver, reader.number]
        return names.allSatisfy(Self.isPlain) ? ([root] + names).joined(separator: "/") : nil
    }

    private static func name(of finger: Finger) -> String { String(finger.number, radix: 16) }

    private static func names(in folder: String) -> [String] {
        // A folder that is not there, or cannot be read, has no prints that could be used.
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private static func write(_ bytes: [UInt8], to file: CInt) -> Bool {
        var count = 0
        while count < bytes.count {
            let written = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[count...])
                return Glibc.write(file, rest.baseAddress, rest.count)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            count += written
        }
        return fsync(file) == 0
    }

    /// Writes a folder's names to the disk; a change that cannot be settled is made all the same.
    private static func settle(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    private static func fault(_ path: String) -> PrintStoreFault {
        PrintStoreFault("\(path): \(String(cString: strerror(errno)))")
    }
}
