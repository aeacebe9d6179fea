// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An image in a binary PGM file with at most 8 bits per pixel (netpbm, `pgm(5)`).
package enum PictureFile {
    /// The maximum size of a file in bytes, enough for the largest image that a reader accepts and a header with
    /// comments.
    package static let largest =
        VirtualReaderMessage.pictureSides.upperBound * VirtualReaderMessage.pictureSides.upperBound + 4096

    /// Reads a regular file.
    ///
    /// - Throws: `unreadable`, `tooLarge`.
    package static func bytes(_ path: String) throws(PictureFileError) -> [UInt8] {
        // A pipe without a writer, or a terminal, would block even when opened.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable("it is not a regular file")
        }
        guard found.st_size <= largest else { throw .tooLarge }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let got = read(file, &chunk, chunk.count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
            guard got > 0 else { return bytes }
            guard bytes.count + got <= largest else { throw .tooLarge }
            bytes += chunk[..<got]
        }
    }
}

/// An error that occurred while reading an image.
package enum PictureFileError: Error, Equatable {
    case unreadable(String)
    case notPGM
    case tooLarge

    /// A sentence that describes the failure.
    package var message: String {
        switch self {
        case .unreadable(let reason): "The picture cannot be read: \(reason)."
        case .notPGM: "The file is not a binary PGM picture with 8 bits per pixel."
        case .tooLarge: "The picture is too large."
        }
    }
}

extension GrayImage {
    /// Reads an image from a PGM file, which consists of `P5`, the width, the height and the largest value (1 to 255),
    /// followed by one byte per pixel.
    ///
    /// Values are scaled to the range 0…255. Files with extra bytes after the image are rejected.
    ///
    /// - Parameter file: The bytes of the whole file.
    /// - Throws: `notPGM`, `tooLarge`.
    package init(pgm file: [UInt8]) throws(PictureFileError) {
        var header = PGMHeader(file)
        guard header.takesMagic(), let width = header.number(), let height = header.number(),
            let white = header.number(), (1...255).contains(white), header.takesOneSpace()
        else { throw .notPGM }
        let longest = VirtualReaderMessage.pictureSides.upperBound
        guard width <= longest, height <= longest else { throw .tooLarge }
        let pixels = file[header.position...].map { UInt8(min(Int($0), white) * 255 / white) }
        guard let image = GrayImage(width: width, height: height, pixels: pixels) else { throw .notPGM }
        self = image
    }
}

/// A parser that reads the header of a PGM file token by token.
private struct PGMHeader {
    private let file: [UInt8]
    private(set) var position = 0

    init(_ file: [UInt8]) { self.file = file }

    mutating func takesMagic() -> Bool {
        position = 2
        return file.starts(with: Array("P5".utf8))
    }

    /// Reads a number of at most 5 digits after white space and comments, or returns `nil` if there is none.
    mutating func number() -> Int? {
        skipSpace()
        let digits = file[position...].prefix(6).prefix { (0x30...0x39).contains($0) }
        guard (1...5).contains(digits.count) else { return nil }
        position += digits.count
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Reads the single byte of white space before the pixels.
    mutating func takesOneSpace() -> Bool {
        guard position < file.count, Self.isSpace(file[position]) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < file.count {
            if file[position] == UInt8(ascii: "#") {
                position = file[position...].firstIndex(of: 0x0A) ?? file.count
            } else if !Self.isSpace(file[position]) {
                return
            } else {
                position += 1
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
