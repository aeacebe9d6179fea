// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory
import Testing

@testable import WhorlTerminalPrompt

struct PasscodeDescriptorTests {
    /// A pipe that holds these bytes and has no writer left.
    private func pipe(_ bytes: [UInt8], isEnded: Bool = true) -> (read: CInt, write: CInt) {
        var ends: [CInt] = [-1, -1]
        #expect(Glibc.pipe(&ends) == 0)
        #expect(write(ends[1], bytes, bytes.count) == bytes.count)
        if isEnded { close(ends[1]) }
        return (ends[0], ends[1])
    }

    private func read(_ descriptor: CInt) async throws(PasscodeReadingError) -> [UInt8] {
        try await PasscodeReader.read(from: descriptor).bytes.withUnsafeBytes { Array($0) }
    }

    @Test(arguments: [
        ("hunter2\n", "hunter2"), ("hunter2", "hunter2"), ("a b\tc".replacing("\t", with: " "), "a b c"),
        ("pä€\nrest", "pä€"),
    ])
    func `a passcode ends at the first line feed, or where the file ends`(_ text: String, _ expected: String)
        async throws
    {
        let (end, _) = pipe(Array(text.utf8))
        defer { close(end) }
        #expect(try await read(end) == Array(expected.utf8))
    }

    @Test func `the next call gives the next line`() async throws {
        let (end, _) = pipe(Array("old\nnew\n".utf8))
        defer { close(end) }
        #expect(try await read(end) == Array("old".utf8))
        #expect(try await read(end) == Array("new".utf8))
        await #expect(throws: PasscodeReadingError(.empty)) { try await read(end) }
    }

    @Test(
        arguments: [
            ([], .empty), ([0x0A], .empty), ([0x61, 0x00, 0x62], .control), ([0x61, 0x0D, 0x0A], .control),
            ([0x7F], .control), ([UInt8](repeating: 0x61, count: 1025), .tooLong),
        ] as [([UInt8], PasscodeReadingError.Code)]
    )
    func `what cannot be a passcode is refused, never mended`(
        _ bytes: [UInt8],
        _ code: PasscodeReadingError.Code
    ) async {
        let (end, _) = pipe(bytes)
        defer { close(end) }
        await #expect(throws: PasscodeReadingError(code)) { try await read(end) }
    }

    @Test func `1,024 bytes are a passcode`() async throws {
        let most = [UInt8](repeating: 0x61, count: 1024)
        let (end, _) = pipe(most + [0x0A])
        defer { close(end) }
        #expect(try await read(end) == most)
    }

    @Test func `a file without an end is not read for ever`() async throws {
        let zero = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        defer { close(zero) }
        await #expect(throws: PasscodeReadingError.self) { try await read(zero) }
    }

    @Test func `a descriptor that is not open, or not for reading, is told`() async {
        do throws(PasscodeReadingError) {
            _ = try await read(9999)
            Issue.record("it was read")
        } catch { #expect(error.code == .unreadable && error.message.contains("Bad file descriptor")) }
    }

    @Test func `a terminal is refused, since it would show what is typed`() async throws {
        let pty = try PseudoTerminal()
        await #expect(throws: PasscodeReadingError(.isTerminal)) { try await read(pty.slave) }
    }

    @Test func `a cancelled task does not wait for a pipe that says nothing`() async {
        let (end, other) = pipe([], isEnded: false)
        defer {
            close(end)
            close(other)
        }
        let task = Task { () async throws(PasscodeReadingError) in try await PasscodeReader.read(from: end) }
        task.cancel()
        await #expect(throws: PasscodeReadingError(.cancelled)) { _ = try await task.value }
    }
}
