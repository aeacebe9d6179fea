// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// A non-blocking connection to the service.
///
/// If the kernel does not identify this process, it first proves its identity.
final class Link {
    /// The next result of reading from the service.
    enum Arrival {
        case message(JSONValue)
        case nothing
        /// The service has closed the connection.
        case end
        /// The service has sent an invalid message.
        case nonsense
    }

    private enum Phase { case challenged, proving, ready }

    private let descriptor: Int32
    private let watch: Int32
    private var phase: Phase
    /// The calls to send after the process has proven its identity, each with a memory file or -1.
    private var waiting: [(call: Bytes, file: Int32)] = []
    private var framing = Framing(longest: JSONValue.longest)
    private var room = Bytes(repeating: 0, count: 4096)
    private var place = 0
    private var count = 0
    /// The memory files that came with messages, in order.
    private var files: [Int32] = []

    /// Connects and adds the socket to an epoll(7) descriptor, under a number; `nil` if the system's service is not
    /// running.
    init?(path: Bytes, watch: Int32, number: UInt64 = 0) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = slash > 0 ? Bytes(path[0..<slash]) : Bytes("/")
        let opened = unsafe whorl_connect(folder.terminated, path.terminated)
        guard opened >= 0 else { return nil }
        guard whorl_watch_set(watch, opened, 0, Int32(WHORL_READABLE), number) == 0 else {
            close(opened)
            return nil
        }
        descriptor = opened
        self.watch = watch
        phase = whorl_is_named(opened) == 1 ? .ready : .challenged
        if phase == .challenged { _ = write(Bytes(#"{"method":"io.whorl.Connection.Challenge"}"#), -1) }
    }

    /// Sends a call, and takes ownership of the memory file to send with it.
    ///
    /// - Returns: `false` if the service has closed the connection or does not read.
    func send(_ call: Bytes, file: Int32 = -1) -> Bool {
        guard phase == .ready else {
            waiting.append((call, file))
            return true
        }
        return write(call, file)
    }

    private func write(_ call: Bytes, _ file: Int32) -> Bool {
        let message = call + [0]
        var beside = file
        let sent = unsafe message.withUnsafeBytes { bytes in
            unsafe whorl_send(descriptor, bytes.baseAddress, bytes.count, &beside, file >= 0 ? 1 : 0)
        }
        guard sent == message.count else {
            let hasHungUp = sent < 0 && library_is_hung_up() == 1
            if file >= 0 { library_secret_drop(file) }
            // Earlier messages of the service, or the end of the connection, are read next.
            return hasHungUp
        }
        if file >= 0 { close(file) }
        return true
    }

    /// Whether some received bytes have not been processed yet.
    var hasMore: Bool { place < count }

    /// Returns the next message that has arrived.
    func receive() -> Arrival {
        while true {
            while place < count {
                place += 1
                let message = framing.take(room[place - 1])
                if framing.isBroken { return .nonsense }
                guard let message else { continue }
                guard let value = JSONValue(message) else { return .nonsense }
                // A service that refuses all calls, such as for a user who has reached a limit, does so before the
                // proof.
                if phase == .ready || phase == .challenged && value.has("error") { return .message(value) }
                if !prove(value) { return .end }
            }
            (place, count) = (0, 0)
            switch fill() {
            case .message: continue
            case let other: return other
            }
        }
    }

    /// Reads received bytes; returns a null message if there are any.
    private func fill() -> Arrival {
        var control = whorl_control()
        let got = unsafe room.withUnsafeMutableBytes {
            unsafe whorl_receive(descriptor, $0.baseAddress, $0.count, &control)
        }
        let isWaiting = got < 0 && library_is_waiting() == 1
        let descriptors = control.descriptors
        let all = [
            descriptors.0, descriptors.1, descriptors.2, descriptors.3, descriptors.4, descriptors.5,
            descriptors.6, descriptors.7,
        ]
        for index in 0..<min(max(Int(control.descriptor_count), 0), all.count) { files.append(all[index]) }
        if isWaiting { return .nothing }
        guard got > 0, got <= room.count else { return .end }
        // The service sends one memory file with a reply, and not an unlimited number.
        guard control.is_truncated == 0, files.count <= all.count else { return .nonsense }
        count = got
        return .message(.null)
    }

    /// Continues the proof of identity; `false` if the service has closed the connection.
    private func prove(_ reply: JSONValue) -> Bool {
        // If the service rejects the proof, the next call fails.
        if phase == .challenged, let question = reply["parameters"]?["question"]?.text {
            phase = .proving
            var call = Bytes(#"{"method":"io.whorl.Connection.Prove","parameters":{"answer":"#)
            call.append(text: question)
            call.append("}}")
            return write(call, -1)
        }
        phase = .ready
        let calls = waiting
        waiting = []
        for (call, file) in calls where !write(call, file) { return false }
        return true
    }

    /// Removes and returns the memory file at this index, or -1 if there is none.
    ///
    /// The caller must close it.
    func take(_ place: Int64) -> Int32 {
        guard let place = Int(exactly: place), files.indices.contains(place) else { return -1 }
        let file = files[place]
        files[place] = -1
        return file
    }

    /// Closes the connection.
    ///
    /// - Parameter isChild: Whether this process is a forked child of the one that connected and still uses the
    ///   connection.
    func end(isChild: Bool = false) {
        if isChild {
            close(descriptor)
            for file in files where file >= 0 { close(file) }
            for (_, file) in waiting where file >= 0 { close(file) }
        } else {
            _ = whorl_watch_remove(watch, descriptor)
            library_hang_up(descriptor)
            for file in files where file >= 0 { library_secret_drop(file) }
            for (_, file) in waiting where file >= 0 { library_secret_drop(file) }
        }
        files = []
        waiting = []
    }
}
