// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The bytes of a kernel file (proc(5)), read in pieces and up to a limit.
///
/// The sequence also ends at the limit and at an error: ``isWhole`` says whether the whole file was read.
final class KernelFile: Sequence, IteratorProtocol {
    private static let pieceSize = 65_536

    private let descriptor: Int32
    /// The number of bytes that may still be read.
    private var room: Int
    private var piece: ArraySlice<UInt8> = []
    private var buffer = [UInt8](repeating: 0, count: pieceSize)
    private(set) var isWhole = false

    /// Opens a file; `nil` if this fails.
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
    /// Calls `body` for each line until it returns `false`, with one line in memory at a time.
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

/// One mount, from its line in the kernel's list (proc_pid_mountinfo(5)).
///
/// A process's mounts include those of other users, at paths of arbitrary bytes, so the fields are not strings.
struct Mount {
    /// The device number of the file system, such as `254:0`.
    let device: ArraySlice<UInt8>
    /// The mounted folder of the file system.
    let root: ArraySlice<UInt8>
    /// The path at which it is mounted.
    let point: ArraySlice<UInt8>

    /// Reads a line: `36 35 98:0 /root /mount-point options …`.
    init?(_ line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count > 4 else { return nil }
        (device, root, point) = (fields[2], fields[3], fields[4])
    }
}
