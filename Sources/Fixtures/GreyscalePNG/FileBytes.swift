// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Whole files, read and replaced.
enum FileBytes {
    /// The bytes of a plain file, of which there may be at most `limit`.
    static func read(_ path: String, atMost limit: Int) throws(GreyscalePNGError) -> [UInt8] {
        // A pipe that has no writer, or a terminal, would keep even the opening waiting.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw GreyscalePNGError(.unreadable, systemCode: errno) }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, isPlain(found) else { throw notPlain(found, .unreadable) }

        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let got = Glibc.read(file, &chunk, chunk.count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw GreyscalePNGError(.unreadable, systemCode: errno) }
            guard got > 0 else { return bytes }
            guard bytes.count + got <= limit else { throw GreyscalePNGError(.tooLarge) }
            bytes += chunk[..<got]
        }
    }

    /// Looks whether ``replace(_:with:)`` may put a file there: only a plain file is replaced, since renaming over a
    /// device, a pipe or a link would take it away.
    static func checkPlace(_ path: String) throws(GreyscalePNGError) {
        var present = stat()
        if lstat(path, &present) == 0 {
            guard isPlain(present) else { throw notPlain(present, .unwritable) }
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else {
            throw GreyscalePNGError(.unwritable, systemCode: errno)
        }
    }

    private static func isPlain(_ file: stat) -> Bool { file.st_mode & S_IFMT == S_IFREG }

    private static func notPlain(_ file: stat, _ code: GreyscalePNGError.Code) -> GreyscalePNGError {
        file.st_mode & S_IFMT == S_IFDIR
            ? GreyscalePNGError(code, systemCode: EISDIR)
            : GreyscalePNGError(code, cause: "it is no plain file")
    }

    /// Writes beside the place and then renames, so that half a file is never seen.
    static func replace(_ path: String, with bytes: [UInt8]) throws(GreyscalePNGError) {
        try checkPlace(path)
        let temporary = path + "." + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw GreyscalePNGError(.unwritable, systemCode: errno) }

        var failure = writeAll(bytes, to: file)
        if failure == 0 && fsync(file) != 0 { failure = errno }
        if close(file) != 0 && failure == 0 { failure = errno }
        if failure == 0 && rename(temporary, path) != 0 { failure = errno }
        guard failure == 0 else {
            unlink(temporary)
            throw GreyscalePNGError(.unwritable, systemCode: failure)
        }
    }

    /// Writes everything; returns 0 or the `errno`.
    private static func writeAll(_ bytes: [UInt8], to file: CInt) -> CInt {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { return errno }
                rest = rest.dropFirst(written)
            }
            return 0
        }
    }
}
