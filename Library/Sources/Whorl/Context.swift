// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// A context, in which a program performs one request at a time.
final class Context {
    /// A running request.
    private struct Request {
        let kind: RequestKind
        let link: Link
    }

    let application: Bytes
    let path: Bytes
    /// The descriptor of epoll(7) that watches the connections and the bell.
    let watch: Int32
    /// The descriptor of eventfd(2), which is readable while received data is waiting to be processed.
    private let bell: Int32
    private var isRung = false

    private var request: Request?
    /// Whether the request has ended, but its last event has not been returned yet.
    private var isEnding = false
    private(set) var result = WHORL_NO_REQUEST
    /// The values of the last event or result.
    private(set) var values = Values()
    private(set) var rows: [Values] = []
    /// The memory file with the secret that was read; -1 without one.
    private var secret: Int32 = -1
    var screen = Screen()

    /// Creates a context without a request; `nil` if the system has no more descriptors.
    init?(path: Bytes, application: Bytes) {
        self.path = path
        self.application = application
        watch = whorl_watch_make()
        bell = library_bell_make()
        guard watch >= 0, bell >= 0,
            whorl_watch_set(watch, bell, 0, Int32(WHORL_READABLE), 0) == 0
        else {
            if watch >= 0 { close(watch) }
            if bell >= 0 { close(bell) }
            return nil
        }
    }

    /// Closes all descriptors.
    ///
    /// A running request ends.
    ///
    /// - Parameter isChild: Whether this process is a forked child of the process that opened the context.
    func end(isChild: Bool = false) {
        request?.link.end(isChild: isChild)
        request = nil
        screen.end(isChild: isChild)
        if secret >= 0 {
            if isChild { close(secret) } else { library_secret_drop(secret) }
            secret = -1
        }
        close(bell)
        close(watch)
    }

    /// Whether a request is running, or its last event has not been returned yet.
    var isBusy: Bool { request != nil || isEnding }

    /// Starts a request.
    ///
    /// - Parameters:
    ///   - kind: The kind, which determines how the reply is parsed.
    ///   - call: The call.
    ///   - abilities: The abilities of the program's own prompt.
    ///   - file: Creates the memory file to send with the call; returns -1 if the system fails to create it.
    /// - Returns: The status.
    func begin(
        _ kind: RequestKind,
        _ call: Bytes,
        _ abilities: Screen.Abilities = Screen.Abilities(),
        file: (() -> Int32)? = nil
    ) -> whorl_status {
        guard !isBusy else { return WHORL_BUSY }
        values = Values()
        rows = []
        dropSecret()
        screen.begin(abilities)
        result = WHORL_NO_REQUEST
        guard let link = Link(path: path, watch: watch) else { return WHORL_NO_SERVICE }
        var number: Int32 = -1
        if let file {
            number = file()
            guard number >= 0 else {
                link.end()
                return WHORL_SYSTEM
            }
        }
        guard link.send(call, file: number) else {
            link.end()
            return WHORL_NO_ANSWER
        }
        request = Request(kind: kind, link: link)
        return WHORL_OK
    }

    /// Cancels the request.
    func cancel() -> whorl_status {
        guard request != nil else { return WHORL_NO_REQUEST }
        finish(WHORL_APP_CANCEL)
        ring()
        return WHORL_OK
    }

    /// Processes received data, and returns the next event.
    func dispatch() -> whorl_event? {
        defer { ring() }
        if isEnding { return giveEnd() }
        guard let request else { return nil }
        if screen.serve() == .notTaken { return WHORL_EVENT_PASSCODE_NOT_TAKEN }
        // An endless stream is processed in batches, so that the program can do other work.
        for _ in 0..<64 {
            switch request.link.receive() {
            case .nothing: return WHORL_EVENT_NONE
            case .end: finish(WHORL_NO_ANSWER)
            case .nonsense: finish(WHORL_NOT_UNDERSTOOD)
            case .message(let message):
                if let event = take(message, of: request) { return event }
            }
            if isEnding { return giveEnd() }
        }
        return WHORL_EVENT_NONE
    }

    private func giveEnd() -> whorl_event {
        isEnding = false
        return WHORL_EVENT_DONE
    }

    private func take(_ message: JSONValue, of request: Request) -> whorl_event? {
        if message.has("error") {
            let failure = Failure(message)
            values = failure.values
            finish(failure.status)
        } else if message["continues"]?.flag == true {
            guard let (event, values) = screen.take(message["parameters"], path: path, watch: watch) else {
                return nil
            }
            self.values = values
            return event
        } else {
            complete(message, request)
        }
        return nil
    }

    private func complete(_ message: JSONValue, _ request: Request) {
        var answer = Answer()
        let status = answer.read(message["parameters"] ?? .object([]), request.kind, request.link)
        values = answer.values
        rows = answer.rows
        secret = answer.secret
        finish(status)
    }

    private func finish(_ status: whorl_status) {
        request?.link.end()
        request = nil
        screen.end()
        result = status
        isEnding = true
    }

    /// Makes the descriptor readable if and only if data is waiting.
    private func ring() {
        let waits = isEnding || request?.link.hasMore == true || screen.hasMore
        guard waits != isRung else { return }
        library_bell_ring(bell, waits ? 1 : 0)
        isRung = waits
    }

    private func dropSecret() {
        if secret >= 0 { library_secret_drop(secret) }
        secret = -1
    }

    /// Moves the secret that was read into a buffer.
    func takeSecret(into buffer: UnsafeMutableRawPointer?, room: Int, count: inout Int) -> whorl_status {
        guard secret >= 0 else { return WHORL_NOTHING }
        let size = library_secret_size(secret)
        guard size >= 0 else { return WHORL_NOTHING }
        count = size
        guard let buffer = unsafe buffer, size <= room else { return WHORL_TOO_SMALL }
        guard unsafe library_secret_read(secret, buffer, size) == 1 else { return WHORL_SYSTEM }
        dropSecret()
        return WHORL_OK
    }
}
