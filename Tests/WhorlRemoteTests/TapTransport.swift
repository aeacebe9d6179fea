// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import CWhorlSocket
import Foundation
import Synchronization
import WhorlIPC
import WhorlSupport

@testable import WhorlRemote

/// A transport that writes down all bytes of its connections, as a program between both sides would see them, and that
/// may put other words into their messages.
final class TapTransport: ServiceTransport {
    typealias Edit = @Sendable (Data) -> Data

    private let transport: any ServiceTransport
    private let edit: Edit?
    private let bytes = Mutex(Data())
    private let descriptors = Mutex(0)

    /// Passes messages on as they are, or as `edit` returns each, without its zero byte.
    init(_ transport: any ServiceTransport, edit: Edit? = nil) {
        self.transport = transport
        self.edit = edit
    }

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
        var message = Data()
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
            guard let edit else {
                guard send(Array(room[..<count]), numbers, to: sink) else { break }
                continue
            }
            // Descriptors come with the first bytes of a message, and each message is sent as a whole.
            message.append(contentsOf: room[..<count])
            var edited: [UInt8] = []
            while let end = message.firstIndex(of: 0) {
                edited += Array(edit(Data(message[..<end]))) + [0]
                message = Data(message[(end + 1)...])
            }
            if edited.isEmpty, !numbers.isEmpty { break }
            guard edited.isEmpty || send(edited, numbers, to: sink) else { break }
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
