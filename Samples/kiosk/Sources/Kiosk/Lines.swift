// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A problem with one of the administrator's files, as a message for the screen.
public struct FileFault: Error, Equatable {
    /// The message.
    public let sentence: String

    init(_ file: String, _ line: Int?, _ problem: String) {
        sentence = PlainText.clean("\(file)\(line.map { ", line \($0)" } ?? ""): \(problem)")
    }
}

/// The lines of a file that only root can change.
enum Lines {
    static let limit = 256 << 10

    /// Reads a file.
    ///
    /// - Returns: The file's lines; `nil` if it does not exist.
    /// - Throws: ``FileFault`` if users other than root can change the file or its folder, or if the file is too long.
    static func read(_ path: String, owner: uid_t = 0) throws(FileFault) -> [Substring]? {
        try checkFolder(of: path, owner)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFault(path, nil, "it cannot be read")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileFault(path, nil, "it is not a file")
        }
        guard status.st_uid == owner, status.st_mode & 0o022 == 0 else {
            throw FileFault(path, nil, "users other than root can change it")
        }
        guard status.st_size <= limit else { throw FileFault(path, nil, "it is too long") }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let part = bytes.withUnsafeMutableBytes { room in
                Glibc.read(descriptor, room.baseAddress.map { $0 + count }, room.count - count)
            }
            if part < 0 { throw FileFault(path, nil, "it cannot be read") }
            if part == 0 { break }
            count += part
        }
        guard count <= limit else { throw FileFault(path, nil, "it is too long") }
        guard let lines = of(bytes[..<count]) else { throw FileFault(path, nil, "it is not UTF-8 text") }
        return lines
    }

    /// Rejects a folder that users other than root can change, because they could replace the file.
    private static func checkFolder(of path: String, _ owner: uid_t) throws(FileFault) {
        let end = path.lastIndex(of: "/")
        let folder = end.map { String(path[..<$0]) } ?? "."
        var status = stat()
        guard lstat(folder.isEmpty ? "/" : folder, &status) == 0 else {
            if errno == ENOENT { return }
            throw FileFault(folder, nil, "it cannot be read")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileFault(folder, nil, "it is not a folder") }
        guard status.st_uid == owner, status.st_mode & 0o022 == 0 else {
            throw FileFault(folder, nil, "users other than root can change it")
        }
    }

    /// Splits bytes into lines; `nil` if they are not text.
    static func of(_ bytes: some RandomAccessCollection<UInt8>) -> [Substring]? {
        // A carriage return and a line feed are a single character of a string, but two bytes.
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        let texts = lines.compactMap { String(validating: $0, as: UTF8.self).map { Substring($0) } }
        return texts.count == lines.count ? texts : nil
    }

    /// Returns a line without its comment and surrounding spaces.
    static func content(_ line: Substring) -> Substring {
        let line = line.drop { $0 == " " || $0 == "\t" }
        guard line.first != "#" else { return "" }
        let end = line.lastIndex { $0 != " " && $0 != "\t" && $0 != "\r" }
        return end.map { line[...$0] } ?? ""
    }
}
