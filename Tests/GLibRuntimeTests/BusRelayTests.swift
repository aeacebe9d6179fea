// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import Foundation
import Glibc
import Synchronization
import Testing

@testable import WhorlGLib

/// An object that counts the calls that reach it.
private final class Counter: ServedObject {
    static let interface = """
        <node><interface name="io.whorl.Test"><method name="Say"/><method name="Wait"/><method name="Take"><arg type="av"/></method></interface></node>
        """
    let calls = Atomic(0)
    let signals = Atomic(0)
    private let waiting = Mutex<[BusReply]>([])

    func call(_ method: String, _ parameters: BusValue, from client: String, _ reply: BusReply) {
        calls.add(1, ordering: .relaxed)
        if method == "Wait" { waiting.withLock { $0.append(reply) } } else { reply.answer([]) }
    }

    func property(_ name: String) -> BusContent? { nil }
}

/// The most memory that this process has had, in KiB.
private func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
}

// Docs/Security.md: C13o
@Suite(.timeLimit(.minutes(2)), .enabled(if: PrivateBus.isAvailable)) struct `A connection to a bus` {
    @Test func `takes no long message and no memory for one, and the next short one is answered`() async {
        await #expect(processExitsWith: .success) {
            let bus = try PrivateBus()
            let client = try bus.client()
            let counter = Counter()
            let server = try await SystemBus.serving.server()
            try server.serve(counter, at: "/", interface: Counter.interface)
            try await SystemBus.serving.follow(
                "io.whorl.Test.Told",
                of: SystemBus.Target(client.name, "/")
            ) { _ in counter.signals.add(1, ordering: .relaxed) }
            server.own("io.whorl.Test") {}
            // The answer to the first call comes when the name is there.
            while try client.call("io.whorl.Test", "/", "io.whorl.Test", "Say").type != 2 { usleep(20_000) }
            let name = try #require(
                try client.call("io.whorl.Test", "/", "io.whorl.Test", "Say").fields[7]
            )
            let call: [(code: UInt8, type: Character, text: String)] = [
                (1, "o", "/"), (2, "s", "io.whorl.Test"), (3, "s", "Take"), (6, "s", "io.whorl.Test"),
            ]
            let signal: [(code: UInt8, type: Character, text: String)] = [
                (1, "o", "/"), (2, "s", "io.whorl.Test"), (3, "s", "Told"), (6, "s", name),
            ]
            // The object has this method, but arrays are refused before they wait for it.
            let refused = try client.send(1, call, variants: 16_000)
            var answer = try client.next()
            while answer.fields[5] != "\(refused)" { answer = try client.next() }
            #expect(answer.fields[4] == "org.freedesktop.DBus.Error.InvalidSignature")
            try client.send(4, signal, variants: 400)
            #expect(try client.call(name, "/", "io.whorl.Test", "Say").type == 2)
            let before = (try peak(), counter.calls.load(ordering: .relaxed))
            for _ in 0..<4 {
                try client.send(1, call, variants: 1 << 20)
                try client.send(4, signal, variants: 1 << 20)
            }
            try client.send(1, call, variants: 8 << 20)
            #expect(try client.call(name, "/", "io.whorl.Test", "Say").type == 2)
            let grown = try peak() - before.0
            #expect(grown < 3 << 10, "\(grown) KiB")
            #expect(counter.calls.load(ordering: .relaxed) == before.1 + 1)
            #expect(counter.signals.load(ordering: .relaxed) == 1)
            try bus.end()
        }
    }

    // Docs/Security.md: C13o
    @Test func `gives a client no more than its share for calls that are refused for their arguments`() async
    {
        await #expect(processExitsWith: .success) {
            let bus = try PrivateBus()
            let client = try bus.client()
            let server = try await SystemBus.serving.server()
            try server.serve(Counter(), at: "/", interface: Counter.interface)
            server.own("io.whorl.Test") {}
            while try client.call("io.whorl.Test", "/", "io.whorl.Test", "Say").type != 2 { usleep(20_000) }
            func call(_ method: String) -> [(code: UInt8, type: Character, text: String)] {
                [(1, "o", "/"), (2, "s", "io.whorl.Test"), (3, "s", method), (6, "s", "io.whorl.Test")]
            }
            for _ in 0..<BusShare.mostCalls { try client.send(1, call("Wait")) }
            for _ in 0..<3 {
                let arrays = try client.send(1, call("Take"), variants: 400)
                let oneMore = try client.send(1, call("Wait"))
                for (number, error) in [(arrays, "InvalidSignature"), (oneMore, "LimitsExceeded")] {
                    var answer = try client.next()
                    while answer.fields[5] == nil { answer = try client.next() }
                    #expect(answer.fields[5] == "\(number)")
                    #expect(answer.fields[4] == "org.freedesktop.DBus.Error.\(error)")
                }
            }
            try bus.end()
        }
    }

    @Test func `takes the descriptor of an answer, and none of other messages`() async {
        await #expect(processExitsWith: .success) {
            let bus = try PrivateBus()
            let client = try bus.client()
            let service = SystemBus.Target(client.name, "/")
            async let answer = SystemBus.shared.descriptor(from: "io.whorl.Test.Open", of: service, "()")
            var call = try client.next()
            while call.type != 1 { call = try client.next() }
            let caller = try #require(call.fields[7])
            var ends: [CInt] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let signal: [(code: UInt8, type: Character, text: String)] = [
                (1, "o", "/"), (2, "s", "io.whorl.Test"), (3, "s", "Told"), (6, "s", caller),
            ]
            try client.send(4, signal, descriptor: ends[0])
            try client.send(4, signal, variants: 1 << 20)
            try client.send(4, signal, descriptor: ends[0])
            try client.send(2, [(6, "s", caller)], answering: call.serial, descriptor: ends[1])
            let descriptor = try await answer
            #expect(write(descriptor, [7], 1) == 1)
            var byte: UInt8 = 0
            #expect(read(ends[0], &byte, 1) == 1 && byte == 7)
            close(descriptor)
            close(ends[1])
            // No one else has the end that is written to.
            #expect(read(ends[0], &byte, 1) == 0)
            close(ends[0])
            try bus.end()
        }
    }

    @Test func `is made again after the bus has ended`() async {
        await #expect(processExitsWith: .success) {
            let bus = try PrivateBus()
            _ = try bus.client()
            let target = SystemBus.Target("org.freedesktop.DBus", "/org/freedesktop/DBus")
            let method = "org.freedesktop.DBus.GetId"
            let first = try await SystemBus.shared.call(method, of: target, "()")[0]?.text
            #expect(first != nil)
            try bus.end()
            let other = try PrivateBus()
            _ = try other.client()
            var second: String?
            for _ in 0..<100 where second == nil {
                do throws(SystemBus.Fault) {
                    second = try await SystemBus.shared.call(method, of: target, "()")[0]?.text
                } catch {
                    usleep(50_000)
                }
            }
            #expect(second != nil && second != first)
            try other.end()
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A relay between GLib and a bus` {
    private final class Owner: Sendable {
        let socket: CInt
        init(_ socket: CInt) { self.socket = socket }
        deinit { close(socket) }
    }

    /// Starts a relay; returns the bus's side and GLib's.
    private func relay(takesDescriptors: Bool = true) throws -> (bus: CInt, glib: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        )
        let glib = try #require(
            BusRelay.start(at: ends[1], takesDescriptors: takesDescriptors, ownedBy: Owner(ends[1]))
        )
        // This side waits, GLib's does not.
        try #require(fcntl(glib, F_SETFL, 0) == 0)
        return (ends[0], glib)
    }

    /// Returns the bytes that come until there are so many, or the end.
    private func read(_ socket: CInt, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let came = recv(socket, &bytes, count, CInt(MSG_WAITALL))
        return Array(bytes.prefix(max(came, 0)))
    }

    private func signal(_ body: Int, _ filler: UInt8) -> [UInt8] {
        let size = withUnsafeBytes(of: UInt32(body).littleEndian, Array.init)
        return [UInt8(ascii: "l"), 4, 0, 1] + size + [1, 0, 0, 0, 0, 0, 0, 0]
            + Array(repeating: filler, count: body)
    }

    @Test(arguments: [true, false])
    func `ends when the bus sends what is no message, after what came before`(_ takes: Bool) throws {
        let (bus, glib) = try relay(takesDescriptors: takes)
        let good = signal(100, 1)
        let bytes = good + Array("HTTP/1.1 400 Bad".utf8) + good
        #expect(send(bus, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count)
        #expect(read(glib, good.count) == good)
        #expect(read(glib, 1).isEmpty)
        close(glib)
        close(bus)
    }

    @Test(arguments: [true, false])
    func `ends with either side, after the last bytes have gone`(_ takes: Bool) throws {
        for busEnds in [true, false] {
            let (bus, glib) = try relay(takesDescriptors: takes)
            let message = signal(9_000, 5)
            let (from, to) = busEnds ? (bus, glib) : (glib, bus)
            #expect(send(from, message, message.count, CInt(MSG_NOSIGNAL)) == message.count)
            close(from)
            #expect(read(to, message.count) == message)
            #expect(read(to, 1).isEmpty)
            close(to)
        }
    }

    @Test func `ends with a descriptor where none was agreed on`() throws {
        let (bus, glib) = try relay(takesDescriptors: false)
        let message = signal(100, 1)
        let sent = message.withUnsafeBytes { whorl_send(bus, $0.baseAddress, $0.count, [bus], 1) }
        #expect(sent == message.count)
        #expect(read(glib, 1).isEmpty)
        close(glib)
        close(bus)
    }

    @Test(arguments: [true, false])
    func `keeps the order of all bytes both ways while both sides are slow`(_ takes: Bool) async throws {
        let (bus, glib) = try relay(takesDescriptors: takes)
        // Many times what the sockets keep.
        let count = 4_000
        let done = Counter()
        await withTaskGroup(of: Void.self) { group in
            for (from, to) in [(bus, glib), (glib, bus)] {
                group.addTask {
                    await onOwnThread {
                        for number in 0..<count {
                            let message = signal(1_000, UInt8(number % 251))
                            guard send(from, message, message.count, CInt(MSG_NOSIGNAL)) == message.count
                            else { return }
                        }
                    }
                }
                group.addTask {
                    await onOwnThread {
                        for number in 0..<count {
                            if number % 1_000 == 0 { usleep(100_000) }
                            guard read(to, 1_016) == signal(1_000, UInt8(number % 251)) else { return }
                            done.calls.add(1, ordering: .relaxed)
                        }
                    }
                }
            }
        }
        #expect(done.calls.load(ordering: .relaxed) == 2 * count)
        close(bus)
        close(glib)
    }

    private func onOwnThread(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                work()
                done.resume()
            }
        }
    }
}
