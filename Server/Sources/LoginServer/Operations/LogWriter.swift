// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Writes the log on a separate thread, so that a stuck reader, such as a full pipe, does not block requests.
///
/// Lines beyond a limit are dropped, and their number is written when there is room again.
final class LogWriter: Sendable {
    /// The maximum number of waiting lines.
    static let most = 8_192
    /// The writer of standard error.
    static let standardError = LogWriter { line in
        line.withUnsafeBytes { bytes in
            // If writing the log fails, the server continues.
            _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    private struct State {
        var lines: [Data] = []
        var dropped = 0
        /// The number of lines that the thread is writing.
        var underWay = 0
    }

    private let state = Mutex(State())
    private let ready = DispatchSemaphore(value: 0)
    private let sink: @Sendable (Data) -> Void
    private let allDropped = Atomic(0)

    /// Creates a writer.
    ///
    /// - Parameter sink: Writes a line; may block.
    init(sink: @escaping @Sendable (Data) -> Void) {
        self.sink = sink
        let thread = Thread { [self] in
            while true {
                ready.wait()
                writeAll()
            }
        }
        thread.name = "log"
        thread.start()
    }

    /// The number of lines dropped since the start.
    var droppedLines: Int { allDropped.load(ordering: .relaxed) }

    /// Appends a line.
    func append(_ line: Data) {
        let isFirst = state.withLock { state in
            guard state.lines.count < Self.most else {
                state.dropped += 1
                allDropped.add(1, ordering: .relaxed)
                return false
            }
            state.lines.append(line)
            return state.lines.count == 1
        }
        if isFirst { ready.signal() }
    }

    /// Waits until all lines are written, but at most `seconds`; called at the end of the process.
    func flush(within seconds: Double) {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end {
            let isEmpty = state.withLock { $0.lines.isEmpty && $0.underWay == 0 }
            if isEmpty { return }
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    private func writeAll() {
        let (lines, dropped) = state.withLock { state in
            defer {
                state.underWay = state.lines.count
                (state.lines, state.dropped) = ([], 0)
            }
            return (state.lines, state.dropped)
        }
        for line in lines { sink(line) }
        if dropped > 0 {
            let text = #"{"level":"error","lines":"\#(dropped)","message":"lines of the log were dropped"}"#
            sink(Data((text + "\n").utf8))
        }
        state.withLock { $0.underWay = 0 }
    }
}
