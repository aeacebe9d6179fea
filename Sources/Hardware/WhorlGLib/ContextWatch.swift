// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Dispatches GLib's default main context as long as no other thread does.
///
/// If the program may start its own main loop, the watch owns the context only while something is ready. Between two
/// iterations it waits for the context's file descriptors itself. When another thread attaches a source, as gusb's
/// thread does at the end of each USB transfer and for hotplug, GLib wakes only the context's owner. Each wait is
/// therefore limited to a sixteenth of the time since the last event, which makes a series of transfers at most a
/// sixteenth slower.
final class ContextWatch: Sendable {
    /// The maximum wait during a C call.
    private static let longestInCall = Duration.milliseconds(16)
    /// The maximum wait otherwise, and therefore the maximum delay before a newly connected reader is detected.
    private static let longest = Duration.milliseconds(500)
    private static let shortest = Duration.microseconds(100)

    /// The number of asynchronous C calls in progress.
    let calls = Atomic(0)
    /// Whether the watch waits in the context and therefore owns it.
    private let owns: Bool
    private let wakeUp: PipeEnds

    init(owns: Bool) {
        guard let wakeUp = PipeEnds(isBlocking: false) else {
            preconditionFailure("the system has no file descriptor left for the GLib thread")
        }
        self.owns = owns
        self.wakeUp = wakeUp
    }

    /// Wakes the watch so that it checks the context now.
    ///
    /// This function can be called from any thread. If the watch owns the context, GLib wakes it.
    func wake() { if !owns { wakeUp.wake() } }

    /// Runs forever.
    func run() {
        while owns { g_main_context_iteration(nil, gboolean(1)) }
        var last = ContinuousClock.now
        while true {
            // It dispatches nothing while another thread owns the context, such as a program's main loop.
            if g_main_context_iteration(nil, gboolean(0)) != 0 {
                last = .now
                continue
            }
            if wait(atMost: pause(since: last)) { last = .now }
        }
    }

    private func pause(since last: ContinuousClock.Instant) -> Duration {
        let longest = calls.load(ordering: .relaxed) > 0 ? Self.longestInCall : Self.longest
        return min(max((.now - last) / 16, Self.shortest), longest)
    }

    /// Waits for work or for the context's descriptors, and returns whether ``wake()`` was called.
    private func wait(atMost pause: Duration) -> Bool {
        var pause = pause
        var ends = [GPollFD(fd: wakeUp.readEnd, events: gushort(POLLIN), revents: 0)]
        if g_main_context_acquire(nil) != 0 {
            ends += Self.descriptors(&pause)
            g_main_context_release(nil)
        }
        Self.poll(&ends, pause)
        guard ends[0].revents != 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 256)
        _ = read(wakeUp.readEnd, &bytes, bytes.count)
        return true
    }

    /// Returns the descriptors that the context's sources wait for, and shortens the pause if a source is due earlier.
    private static func descriptors(_ pause: inout Duration) -> [GPollFD] {
        var priority: gint = 0
        var timeout: gint = -1
        // Unlike the other functions, query does not take NULL for the default context.
        let context = g_main_context_default()
        g_main_context_prepare(context, &priority)
        var room = [GPollFD](repeating: GPollFD(), count: 16)
        while true {
            let count = g_main_context_query(context, priority, &timeout, &room, gint(room.count))
            guard Int(count) > room.count else {
                if timeout >= 0 { pause = min(pause, .milliseconds(Int64(timeout))) }
                return Array(room.prefix(Int(count)))
            }
            room = [GPollFD](repeating: GPollFD(), count: Int(count))
        }
    }

    /// Calls ppoll(2), which supports timeouts shorter than a millisecond.
    ///
    /// `GPollFD` has the same layout as `pollfd`.
    private static func poll(_ ends: inout [GPollFD], _ pause: Duration) {
        typealias Call =
            @convention(c) (
                UnsafeMutableRawPointer?, nfds_t, UnsafePointer<timespec>?, UnsafeRawPointer?
            ) -> CInt
        guard let ppoll = gnuFunction("ppoll", as: Call.self) else {
            preconditionFailure("the C library has no ppoll(2)")
        }
        let parts = pause.components
        var time = timespec(tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
        // An interrupted wait just ends early.
        _ = ends.withUnsafeMutableBytes { ppoll($0.baseAddress, nfds_t($0.count / 8), &time, nil) }
    }
}
