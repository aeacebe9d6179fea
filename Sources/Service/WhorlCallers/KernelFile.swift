// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The bytes of a kernel file (proc(5)), read in pieces and up to a limit.
///
/// The sequence also ends when the limit is reached or an error occurs; ``isWhole`` says whether the entire file was
/// read.
final class KernelFile: Sequence, IteratorProtocol {
    private static let pieceSize = 65_536

    private let descriptor: Int32
    /// The number of bytes that may still be read.
    private var room: Int
    private var piece: ArraySlice<UInt8> = []
    private var buffer = [UInt8](repeating: 0, count: pieceSize)
    private(set) var isWhole = false

    /// Opens a file; returns `nil` if this fails.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - most: The maximum number of bytes to read.
    init?(_ path: String, most: Int) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        room = most
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func next() -> UInt8? {
        if piece.isEmpty { readPiece() }
        return piece.popFirst()
    }

    private func readPiece() {
        guard !isWhole, room >= 0 else { return }
        // Free the previous piece first, so that its memory is reused.
        piece = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            room -= Swift.max(0, count)
            // Nothing follows an error, or data beyond the limit.
            guard count >= 0, room >= 0 else {
                room = -1
                return
            }
            isWhole = count == 0
            piece = buffer[..<count]
            return
        }
    }
}

extension Sequence<UInt8> {
    /// Calls `body` for each line until it returns `false`; only one line is in memory at a time.
    func forEachLine(_ body: (ArraySlice<UInt8>) -> Bool) {
        var line: [UInt8] = []
        for byte in self {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            guard body(line[...]) else { return }
            line.removeAll(keepingCapacity: true)
        }
        if !line.isEmpty { _ = body(line[...]) }
    }
}

/// A mount, as described by a line of the kernel's list (proc_pid_mountinfo(5)).
///
/// The fields are not strings, because a process's mounts include those of other users, whose paths may contain
/// arbitrary bytes.
struct Mount {
    /// The device number of the file system, such as `254:0`.
    let device: ArraySlice<UInt8>
    /// The folder of the file system that is mounted.
    let root: ArraySlice<UInt8>
    /// The path where the folder is mounted.
    let point: ArraySlice<UInt8>

    /// Parses a line such as `36 35 98:0 /root /mount-point options …`.
    init?(_ line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count > 4 else { return nil }
        (device, root, point) = (fields[2], fields[3], fields[4])
    }
}
