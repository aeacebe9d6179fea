// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import Glibc

/// A pipe to or from a program that a test starts, which no other program gets.
///
/// A program that Foundation's `Process` starts at the same moment would keep the ends of an ordinary `Pipe` open, and
/// the end of the file would come with that program's end only (``ChildProgram``). The end that the program has must be
/// closed here after the start.
package struct ChildPipe: Sendable {
    /// What is read from.
    package let reading: FileHandle
    /// What is written to.
    package let writing: FileHandle

    /// Opens both ends; each is closed with its handle.
    package init() throws {
        // By a name, since Swift does not know pipe2(2): open(2) takes O_CLOEXEC, too. The reader does not wait for the
        // writer, who follows.
        let name = NSTemporaryDirectory() + "whorl-pipe-" + UUID().uuidString
        guard mkfifo(name, 0o600) == 0 else { throw Failure(number: errno) }
        defer { unlink(name) }
        reading = try Self.open(name, O_RDONLY | O_NONBLOCK)
        writing = try Self.open(name, O_WRONLY)
        guard fcntl(reading.fileDescriptor, F_SETFL, O_RDONLY) == 0 else { throw Failure(number: errno) }
    }

    /// Why a pipe cannot be opened (errno).
    package struct Failure: Error { package let number: CInt }

    private static func open(_ name: String, _ mode: CInt) throws -> FileHandle {
        let descriptor = Glibc.open(name, mode | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
