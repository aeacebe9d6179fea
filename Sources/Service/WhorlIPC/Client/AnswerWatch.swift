// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Ends calls to a service that cannot start.
///
/// The service manager listens on behalf of the service. If the service fails each time it is started, connections are
/// established, but no process accepts them. An answer can also take long for a good reason, such as a prompt. So if
/// the first answer does not arrive soon, the service is asked for its name over another connection, which a running
/// service answers immediately.
///
/// All calls made within ``Limits/first`` share one timer if they are answered soon.
package final class AnswerWatch: Sendable {
    /// The times to wait for an answer.
    package struct Limits: Sendable {
        /// The time without an answer after which the service is asked over another connection.
        package var first: Duration
        /// The time within which the service must answer over that connection.
        package var second: Duration
        /// The time after that for which calls fail without waiting, so that a program that makes several calls waits
        /// only once.
        package var rest: Duration

        /// Creates the limits; the defaults are those for programs.
        package init(
            first: Duration = .seconds(10),
            second: Duration = .seconds(20),
            rest: Duration = .seconds(5)
        ) {
            self.first = first
            self.second = second
            self.rest = rest
        }
    }

    private struct Waiting {
        let connection: ServiceConnection
        let since: ContinuousClock.Instant
    }

    private struct State {
        var waiting: [ObjectIdentifier: Waiting] = [:]
        /// Whether a timer is running or the service is being asked.
        var isBusy = false
        /// The time until which calls fail without waiting.
        var silentUntil: ContinuousClock.Instant?
    }

    private let limits: Limits
    private let connect: @Sendable () throws(SystemCallError) -> Descriptor
    private let state = Mutex(State())

    /// Creates a watch for a service.
    ///
    /// - Parameters:
    ///   - limits: The times to wait for an answer.
    ///   - connect: Opens another connection to the service.
    package init(_ limits: Limits, connect: @escaping @Sendable () throws(SystemCallError) -> Descriptor) {
        self.limits = limits
        self.connect = connect
    }

    /// The number of connections that have not received an answer yet.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// The error for a call that is not made because the service recently did not answer; otherwise `nil`.
    package var recentSilence: SystemCallError? {
        let isSilent = state.withLock { state in state.silentUntil.map { .now < $0 } ?? false }
        return isSilent ? SystemCallError(unanswered: "call") : nil
    }

    /// Starts waiting for the first answer on a connection over which a call was sent.
    func begin(_ connection: ServiceConnection) {
        let now = ContinuousClock.now
        let (isSilent, startsTimer) = state.withLock { state in
            if let end = state.silentUntil, now < end { return (true, false) }
            state.waiting[ObjectIdentifier(connection)] = Waiting(connection: connection, since: now)
            defer { state.isBusy = true }
            return (false, !state.isBusy)
        }
        if isSilent { connection.giveUp() }
        if startsTimer { lookLater(limits.first) }
    }

    /// Stops waiting, because an answer has arrived or is no longer expected.
    func end(_ connection: ServiceConnection) {
        _ = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    private func lookLater(_ time: Duration) { OffPoolTimer.run(after: time) { [self] in look() } }

    /// Asks the service if a connection has waited too long; otherwise checks again when the next one will have.
    private func look() {
        let oldest = state.withLock { state in
            let oldest = state.waiting.values.map(\.since).min()
            if oldest == nil { state.isBusy = false }
            return oldest
        }
        guard let oldest else { return }
        let rest = limits.first - (ContinuousClock.now - oldest)
        guard rest <= .zero else { return lookLater(rest) }
        // Asking blocks its thread. Without one, the service is asked later.
        if !startThread("whorl.answers", { [self] in ask() }) { lookLater(limits.first) }
    }

    /// Asks the service; if it does not answer, gives up the connections that have waited too long.
    private func ask() {
        // Connections that begin to wait from now on are not meant by the answer.
        let asked = ContinuousClock.now
        let answers = serviceAnswers()
        let ended = state.withLock { state in
            guard let answers else { return [ServiceConnection]() }
            let overdue = state.waiting.filter { asked - $0.value.since >= limits.first }
            for key in overdue.keys { state.waiting[key] = nil }
            if answers { return [] }
            state.silentUntil = .now + limits.rest
            return overdue.values.map(\.connection)
        }
        for connection in ended { connection.giveUp() }
        // Where the answer could not be had, the service is asked again.
        if answers == nil { lookLater(limits.first) } else { look() }
    }

    /// Asks the service for its name.
    ///
    /// - Returns: Whether the service answered in time; `nil` if this is unknown.
    private func serviceAnswers() -> Bool? {
        let socket: Descriptor
        do throws(SystemCallError) {
            socket = try connect()
        } catch {
            // No place in the queue became free. Where no one listens any longer, the kernel ends the calls themselves.
            return error.number == EAGAIN ? false : nil
        }
        let milliseconds = Int32(exactly: (limits.second / .milliseconds(1)).rounded(.up)) ?? .max
        var call = BlockingCall(socket, patience: milliseconds)
        do throws(ServiceCallError) {
            let _: CallReply<NoParameters> = try call.call("org.varlink.service.GetInfo", NoParameters())
            return true
        } catch {
            guard case .connection(let failure?) = error else { return true }
            // A service that hangs up has taken the connection, and those before it.
            return failure.number != ETIMEDOUT
        }
    }
}
