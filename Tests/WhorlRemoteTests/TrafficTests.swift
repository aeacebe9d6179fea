// SPDX-License-Identifier: Apache-2.0

import CSocket
import WhorlFingerprint
import Foundation
import SecretMemory
import Synchronization
import Testing
import WhorlIPC
import WhorlService
import WhorlSupport

@testable import WhorlRemote

@Suite("The traffic of the service")
struct TrafficTests {
    @Test func `holds no byte run of a secret or a passcode over a whole session`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let tap = TapTransport(machine.transport)
        let services = Services.remote(
            profile: "ada",
            application: ApplicationID(rawValue: "org.example.app"),
            over: tap
        )
        let words = ["ztq8 vb1x 4kwj", "hm0c yd6r 9pfl", "g3xz 7nqo u2ta", "w5be k8sj i1mv"]
        let consent = ConsentRequest(application: services.application)
        let session = OwnerSession()
        try await services.passcode.askForFinger(consent, in: session, presenter: ScriptedPresenter())
        try await services.passcode.set(secret(words[0]), shown: session)
        try await services.passcode.change(secret(words[0]), to: secret(words[1]))
        #expect(try await services.passcode.verify(secret(words[1])) == .verified)
        let id = ItemID(.secret, try ItemName("s"), of: "ada")
        _ = try await services.namedItems.add(
            .secret(secret(words[3])),
            as: id,
            access: .biometryAny.withApplicationPassword,
            applicationPassword: secret(words[2])
        )
        let released = try await services.items.secret(
            in: .stored(id),
            ReleaseRequest(EvaluationRequest("open"), applicationPassword: secret(words[2])),
            presenter: ScriptedPresenter()
        )
        let isWhole = SecretBytes.areEqual(released.product.bytes, secret(words[3]).bytes)
        #expect(isWhole)
        _ = try await services.owner.evaluate(
            EvaluationRequest("unlock"),
            presenter: ScriptedPresenter(typing: [words[1]])
        )
        let recorded = tap.recorded
        // The tap sees the calls: otherwise it would find nothing anywhere.
        #expect(recorded.range(of: Data("io.whorl.Passcode.Change".utf8)) != nil)
        #expect(recorded.range(of: Data("io.whorl.Items.Use".utf8)) != nil)
        for word in words {
            let bytes = Data(word.utf8)
            for start in 0...bytes.count - 6 {
                let run = bytes[start..<start + 6]
                #expect(recorded.range(of: run) == nil, "\(word)")
            }
            #expect(recorded.range(of: Data(bytes.base64EncodedString().prefix(8).utf8)) == nil, "\(word)")
        }
    }
}

/// A transport that writes down all bytes of its connections, as a program between both sides would see them.
final class TapTransport: ServiceTransport {
    private let transport: any ServiceTransport
    private let bytes = Mutex(Data())
    private let descriptors = Mutex(0)

    init(_ transport: any ServiceTransport) { self.transport = transport }

    var recorded: Data { bytes.withLock(\.self) }
    /// Whether a descriptor, such as a secret's, was sent in either direction.
    var hasDescriptors: Bool { descriptors.withLock { $0 > 0 } }

    func connect() throws(SystemCallError) -> Descriptor {
        let service = try transport.connect()
        let (own, other) = try UnixSocket.pair()
        guard startThread("tap", { [self] in relay(from: other, to: service) }),
            startThread("tap", { [self] in relay(from: service, to: other) })
        else { throw SystemCallError("pthread_create") }
        return own
    }

    /// Passes bytes and descriptors on until one side hangs up.
    private func relay(from source: Descriptor, to sink: Descriptor) {
        var room = [UInt8](repeating: 0, count: 65_536)
        while true {
            var place = pollfd(fd: source.number, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, -1) >= 0 || errno == EINTR else { break }
            var control = whorl_control()
            let count = room.withUnsafeMutableBytes {
                whorl_receive(source.number, $0.baseAddress, $0.count, &control)
            }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { break }
            bytes.withLock { $0.append(contentsOf: room[..<count]) }
            let numbers = withUnsafeBytes(of: control.descriptors) { room in
                Array(room.bindMemory(to: Int32.self).prefix(Int(control.descriptor_count)))
            }
            defer { for number in numbers { close(number) } }
            descriptors.withLock { $0 += numbers.count }
            guard send(Array(room[..<count]), numbers, to: sink) else { break }
        }
        shutdown(sink.number, Int32(SHUT_RDWR))
    }

    private func send(_ bytes: [UInt8], _ numbers: [Int32], to sink: Descriptor) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                whorl_send(
                    sink.number,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    numbers,
                    sent == 0 ? Int32(numbers.count) : 0
                )
            }
            guard count < 0 else {
                sent += count
                continue
            }
            guard errno == EAGAIN || errno == EINTR else { return false }
            var place = pollfd(fd: sink.number, events: Int16(POLLOUT), revents: 0)
            _ = poll(&place, 1, 1000)
        }
        return true
    }
}
