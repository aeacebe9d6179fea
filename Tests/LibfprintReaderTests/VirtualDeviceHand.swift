// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Says one thing at a time to libfprint's `virtual_device` and `virtual_device_storage`.
///
/// The driver reads one message of each connection, deals with it, and hangs up: the hang-up is the receipt.
/// What no operation waits for is kept, and read by the next one.
struct VirtualDeviceHand: Sendable {
    /// What the drivers understand (libfprint 1.94.5, `virtual-device.c`).
    enum Command: Sendable {
        /// A finger is laid on that has this name.
        case scan(String)
        /// The operation ends with this `FpDeviceError`.
        case error(Int)
        /// The finger could not be read, for this `FpDeviceRetry`.
        case retry(Int)
        /// A finger is there or not, without having been read.
        case finger(Bool)
        /// An operation on the storage goes on; without it the driver waits 500 ms, and does not clear at all.
        case goOn
        /// A print is in the storage; a driver without one aborts the process.
        case insert(String)
        /// A print is in the storage no more.
        case remove(String)
        /// Asks for the names of the prints in the storage.
        case list
        case stages(Int)
        case scanType(String)
        case hearsCancellation(Bool)
        case unplug
        /// Anything else.
        case words(String)

        var text: String {
            switch self {
            case .scan(let name): "SCAN \(name)"
            case .error(let code): "ERROR \(code)"
            case .retry(let code): "RETRY \(code)"
            case .finger(let present): "FINGER \(present ? 1 : 0)"
            case .goOn: "CONT "
            case .insert(let name): "INSERT \(name)"
            case .remove(let name): "REMOVE \(name)"
            case .list: "LIST"
            case .stages(let count): "SET_ENROLL_STAGES \(count)"
            case .scanType(let name): "SET_SCAN_TYPE \(name)"
            case .hearsCancellation(let hears): "SET_CANCELLATION_ENABLED \(hears ? 1 : 0)"
            case .unplug: "UNPLUG"
            case .words(let text): text
            }
        }
    }

    /// What went wrong between the hand and the socket.
    struct Failure: Error { let what: String }

    /// The path of the socket, which exists while the reader is open.
    let path: String

    /// Says it and waits until the driver has dealt with it.
    ///
    /// The calls block, so they have a thread of their own.
    ///
    /// - Returns: What the driver answered, which is something for `list` only.
    @discardableResult
    func say(_ command: Command) async throws -> String {
        let answer = await withCheckedContinuation {
            (done: CheckedContinuation<Result<String, Failure>, Never>) in
            Thread.detachNewThread {
                done.resume(returning: Result { () throws(Failure) in try exchange(command.text) })
            }
        }
        return try answer.get()
    }

    func exchange(_ text: String) throws(Failure) -> String {
        let descriptor = try connected()
        defer { close(descriptor) }
        guard send(descriptor, text, strlen(text), CInt(MSG_NOSIGNAL)) == strlen(text) else {
            throw Failure(what: "send: \(errno)")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(what: "no hang-up after “\(text)”: \(errno)") }
            guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
            answer += buffer.prefix(count)
        }
    }

    /// A connection whose waits end after four minutes.
    private func connected() throws(Failure) -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 240, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafeBytes(of: address) { bytes in
            connect(
                descriptor,
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        guard result == 0 else {
            let reason = errno
            close(descriptor)
            throw Failure(what: "no reader is open at \(path): \(reason)")
        }
        return descriptor
    }
}
