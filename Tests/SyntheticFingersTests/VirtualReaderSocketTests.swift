// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyntheticFingers
import Testing

/// Connecting, sending and waiting, each against a socket that the test holds in its own hands.
@Suite struct VirtualReaderSocketTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/reader" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `one connection carries messages one after another, byte for byte`() throws {
        let reader = try ListeningSocket(path: path)
        let press = SyntheticFinger(seed: 1, cache: nil).press(0)
        do {
            let socket = try VirtualReaderSocket(connectingTo: path, timeout: .zero)
            try socket.send(.automaticFinger(false), timeout: .zero)
            try socket.send(.press(press), timeout: .zero)
            try socket.send(.unplug, timeout: .zero)
        }
        let words: [Int32] = [-3, 0, 192, 256, -5, 0]
        let numbers = words.withUnsafeBytes { [UInt8]($0) }
        #expect(try reader.accept().readToEnd() == numbers[..<16] + press.pixels + numbers[16...])
    }

    @Test func `what is unread is known as unread, and then as read`() throws {
        let reader = try ListeningSocket(path: path)
        let socket = try VirtualReaderSocket(connectingTo: path, timeout: .zero)
        try socket.send(.unplug, timeout: .zero)
        let connection = try reader.accept()
        #expect(code { try socket.waitUntilRead(timeout: .milliseconds(30)) } == .notRead)
        _ = connection.read(4)
        #expect(code { try socket.waitUntilRead(timeout: .zero) } == .notRead)
        _ = connection.read(4)
        try socket.waitUntilRead(timeout: .zero)
    }

    @Test func `a reader that hangs up after reading has read`() throws {
        let reader = try ListeningSocket(path: path)
        let socket = try VirtualReaderSocket(connectingTo: path, timeout: .zero)
        try socket.send(.unplug, timeout: .zero)
        _ = try reader.accept().read(8)
        try socket.waitUntilRead(timeout: .seconds(120))
    }

    @Test func `a reader that hangs up on unread bytes has not read`() throws {
        let reader = try ListeningSocket(path: path)
        let socket = try VirtualReaderSocket(connectingTo: path, timeout: .zero)
        try socket.send(.unplug, timeout: .zero)
        _ = try reader.accept().read(3)
        #expect(code { try socket.waitUntilRead(timeout: .seconds(120)) } == .disconnected)
    }

    @Test func `sending to a reader that hung up is an error and no signal`() throws {
        let reader = try ListeningSocket(path: path)
        let socket = try VirtualReaderSocket(connectingTo: path, timeout: .zero)
        _ = try reader.accept()
        #expect(code { try socket.send(.unplug, timeout: .seconds(120)) } == .disconnected)
    }

    @Test func `a picture that the reader leaves in the socket stops at the timeout`() throws {
        let reader = try ListeningSocket(path: path)
        let socket = try VirtualReaderSocket(connectingTo: path, timeout: .zero)
        let pixels = [UInt8](repeating: 9, count: 4_000_000)
        let large = try #require(GrayImage(width: 4000, height: 1000, pixels: pixels))
        let began = ContinuousClock.now
        #expect(code { try socket.send(.press(large), timeout: .milliseconds(100)) } == .notRead)
        #expect((.milliseconds(100) ..< .seconds(120)).contains(ContinuousClock.now - began))
        withExtendedLifetime(reader) {}
    }

    @Test func `without a socket connecting fails at the timeout and not before`() {
        let began = ContinuousClock.now
        let code = code { _ = try VirtualReaderSocket(connectingTo: path, timeout: .milliseconds(100)) }
        #expect(code == .noReader)
        #expect((.milliseconds(100) ..< .seconds(120)).contains(ContinuousClock.now - began))
    }

    @Test func `a socket left behind by a closed reader is no reader`() throws {
        do { _ = try ListeningSocket(path: path) }
        #expect(code { _ = try VirtualReaderSocket(connectingTo: path, timeout: .zero) } == .noReader)
    }

    @Test func `a socket that appears before the timeout is found`() throws {
        let path = path
        let client = Background {
            let socket = try VirtualReaderSocket(connectingTo: path, timeout: .seconds(120))
            try socket.send(.unplug, timeout: .zero)
        }
        usleep(50_000)
        let reader = try ListeningSocket(path: path)
        #expect(try reader.accept().readToEnd().count == 8)
        try client.finish()
    }

    @Test(arguments: [
        "", "a\0b", String(repeating: "x", count: 108), "/" + String(repeating: "ä", count: 54),
    ])
    func `a path that no socket can have is refused at once`(path: String) {
        #expect(
            code { _ = try VirtualReaderSocket(connectingTo: path, timeout: .seconds(60)) } == .invalidPath
        )
    }

    @Test func `a path of just the limit is tried`() {
        let path = "/" + String(repeating: "x", count: VirtualReaderSocket.longestPath - 1)
        #expect(VirtualReaderSocket.longestPath == 107)
        #expect(code { _ = try VirtualReaderSocket(connectingTo: path, timeout: .zero) } == .noReader)
    }

    @Test func `a file that is no socket is no reader`() throws {
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(code { _ = try VirtualReaderSocket(connectingTo: path, timeout: .zero) } == .noReader)
    }

    @Test func `a path through a file is the system's refusal`() throws {
        try Data().write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: VirtualReaderError.self) {
            _ = try VirtualReaderSocket(connectingTo: path + "/below", timeout: .seconds(60))
        }
        #expect(error?.code == .systemFailure)
        #expect(error?.systemCode == ENOTDIR)
        #expect(error?.message.contains(path) == true)
    }
}

/// One message each, taken by a reader that behaves as libfprint's does.
@Suite struct VirtualReaderTests {
    private let directory: TemporaryDirectory
    private var reader: VirtualReader { VirtualReader(path: directory.path + "/reader") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `a message is sent whole and its connection closed`() throws {
        let server = try ListeningSocket(path: reader.path)
        let reader = reader
        let client = Background { try reader.send(.failure(code: 3), timeout: .seconds(120)) }
        #expect(try server.accept().readToEnd().count == 8)
        try client.finish()
    }

    @Test func `a message that no scan takes is withdrawn by an empty connection`() throws {
        let server = try ListeningSocket(path: reader.path)
        #expect(code { try reader.send(.unplug, timeout: .milliseconds(50)) } == .notRead)
        #expect(try server.accept().readToEnd().count == 8)
        #expect(try server.accept().readToEnd().isEmpty)
    }

    @Test func `a message that the reader hung up on is sent again`() throws {
        let server = try ListeningSocket(path: reader.path)
        let reader = reader
        let client = Background { try reader.send(.unplug, timeout: .seconds(120)) }
        _ = try server.accept().read(5)
        #expect(try server.accept().read(8).count == 8)
        try client.finish()
    }

    @Test func `a picture that libfprint could not take is refused before anything is sent`() throws {
        let tiny = try #require(GrayImage(width: 8, height: 8, pixels: [UInt8](repeating: 0, count: 64)))
        #expect(code { try reader.send(.press(tiny), timeout: .seconds(60)) } == .invalidPicture)
    }

    @Test func `without a reader the error says where it was looked for, and what to do`() {
        let error = #expect(throws: VirtualReaderError.self) { try reader.send(.unplug, timeout: .zero) }
        #expect(error?.code == .noReader)
        #expect(error?.message.contains(reader.path) == true)
        #expect(error?.recovery.contains("FP_VIRTUAL_IMAGE") == true)
    }
}

/// The code of the error that `body` throws, or `nil` if it throws none.
private func code(_ body: () throws -> Void) -> VirtualReaderError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? VirtualReaderError)?.code
    }
}

// Not covered: the driver itself. Its manners, which the doc comments tell, need libfprint.
