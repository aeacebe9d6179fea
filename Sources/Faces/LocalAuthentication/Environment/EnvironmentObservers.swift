// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import Dispatch
internal import Foundation
internal import Synchronization
internal import WhorlService
internal import WhorlSupport

/// The observers of an environment, and the task that watches the machine as long as there are observers.
final class EnvironmentObservers: Sendable {
    /// A weak reference to an observer.
    ///
    /// The class is `@unchecked Sendable` because the reference is only compared, or used on the queue that calls the
    /// observers. Apple's systems also call observers of any type on a queue.
    private final class Entry: @unchecked Sendable {
        weak let observer: (any LAEnvironment.Observer)?
        /// The identity of the observer, which is valid only during the observer's lifetime.
        let id: ObjectIdentifier

        init(_ observer: any LAEnvironment.Observer) {
            self.observer = observer
            id = ObjectIdentifier(observer)
        }
    }

    private struct State {
        var entries: [Entry] = []
        var watch: Task<Void, Never>?

        mutating func remove(_ gone: [Entry]) {
            entries.removeAll { entry in gone.contains { $0 === entry } }
        }
    }

    private let state = Mutex(State())
    private let calls = DispatchQueue(label: "whorl.environment")

    /// The interval at which the database's change mark is polled.
    private static let period = Duration.seconds(1)

    deinit { state.withLock { $0.watch?.cancel() } }

    func add(_ observer: any LAEnvironment.Observer, to environment: LAEnvironment) {
        let entry = Entry(observer)
        // A former observer may have had the same address.
        let gone = withoutObserver()
        let isFirst = state.withLock { state in
            state.remove(gone)
            guard !state.entries.contains(where: { $0.id == entry.id }) else { return false }
            state.entries.append(entry)
            return state.watch == nil
        }
        guard isFirst else { return }
        let machine = environment.machine
        // The machine is checked before this function returns, so that all later changes are reported.
        let (events, look) = WorkerThread.preflights.wait {
            let events = await machine.readerEvents()
            return (events, await MachinePoll(machine))
        }
        let watch = Task(executorPreference: WorkerThread.preflights) { [weak self, weak environment] in
            await Self.watch(look, events) { old in
                guard let self, let environment else { return false }
                return self.tell(environment, old)
            }
        }
        let isSecond = state.withLock { state in
            guard state.watch == nil else { return true }
            state.watch = watch
            return false
        }
        // Another observer was added at the same moment.
        if isSecond { watch.cancel() }
    }

    func remove(_ observer: any LAEnvironment.Observer) {
        let id = ObjectIdentifier(observer)
        state.withLock { $0.entries.removeAll { $0.id == id } }
        _ = endWithoutObservers()
    }

    /// Checks the machine every second, and whenever a reader is connected or disconnected, until no observers remain.
    ///
    /// - Parameters:
    ///   - first: The result of the previous check.
    ///   - events: An event for each reader that is connected or disconnected.
    ///   - tell: A closure that receives the previous state if the state has changed, and returns whether observers
    ///     remain.
    private static func watch(
        _ first: MachinePoll,
        _ events: AsyncStream<Void>,
        _ tell: (LAEnvironment.State?) -> Bool
    ) async {
        var look = first
        let (ticks, sink) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .unbounded)
        // These run on the watch's own thread, and do not use the pool's clock, because a program may block every
        // thread of the pool.
        let plugs = Task(executorPreference: currentExecutor) { for await _ in events { sink.yield(true) } }
        let clock = Task(executorPreference: currentExecutor) {
            while await OffPoolTimer.wait(period) { sink.yield(false) }
        }
        defer {
            plugs.cancel()
            clock.cancel()
        }
        for await isPlug in ticks {
            let old = await look.next(surely: isPlug)
            guard !Task.isCancelled, tell(old) else { return }
        }
    }

    /// Calls the observers if the state has changed.
    ///
    /// - Returns: Whether observers remain.
    private func tell(_ environment: LAEnvironment, _ old: LAEnvironment.State?) -> Bool {
        guard !endWithoutObservers() else { return false }
        guard let old else { return true }
        let entries = state.withLock(\.entries)
        calls.async {
            for entry in entries {
                entry.observer?.environment(environment, stateDidChangeFromOldState: old)
            }
        }
        return true
    }

    /// Stops watching the machine if no observer exists any longer.
    private func endWithoutObservers() -> Bool {
        let gone = withoutObserver()
        let (isOver, watch) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            state.remove(gone)
            guard state.entries.isEmpty else { return (false, nil) }
            defer { state.watch = nil }
            return (true, state.watch)
        }
        watch?.cancel()
        return isOver
    }

    /// Returns the entries of observers that no longer exist.
    ///
    /// Reading a weak reference briefly retains the observer. Releasing the observer may deallocate it, and its
    /// `deinit` may call ``remove(_:)``. The references are therefore read without holding the lock.
    private func withoutObserver() -> [Entry] {
        state.withLock(\.entries).filter { $0.observer == nil }
    }
}

/// The parts of the machine that an environment observes.
struct ObservedMachine: Sendable {
    private let asker: any ServiceAsker
    private let application: ApplicationID
    /// A closure that returns numbers that differ after each change of the state by any process.
    ///
    /// Calling it is cheaper than reading the state, which may access the TPM. A result of `nil` counts as a change.
    let mark: @Sendable () async -> [Int]?
    /// A closure that returns a stream with an event for each reader that is connected or disconnected.
    let readerEvents: @Sendable () async -> AsyncStream<Void>

    /// Creates a machine from only the required parts, because the whole `ContextParts` would retain the environment.
    init(_ parts: ContextParts) {
        asker = parts.asker
        application = parts.application
        mark = parts.changeMark
        readerEvents = parts.readerEvents
    }

    /// Returns the current state of the machine.
    func state() async -> LAEnvironment.State {
        LAEnvironment.State(await asker.preflight(.biometrics, for: application))
    }
}

/// A series of checks of the machine that skips any check that cannot find a change.
struct MachinePoll: Sendable {
    let machine: ObservedMachine
    private var mark: [Int]?
    private(set) var state: LAEnvironment.State

    /// Performs the first check.
    init(_ machine: ObservedMachine) async {
        self.machine = machine
        // The mark is read first, so that the next check finds any change in between.
        mark = await machine.mark()
        state = await machine.state()
    }

    /// Performs the next check.
    ///
    /// - Parameter surely: Whether to read the state even if the database has not changed.
    /// - Returns: The previous state if the state has changed; otherwise, `nil`.
    mutating func next(surely: Bool) async -> LAEnvironment.State? {
        let before = (mark: mark, state: state)
        mark = await machine.mark()
        // A lockout may expire, which does not change the database.
        guard surely || mark == nil || mark != before.mark || before.state.biometry?.isLockedOut == true
        else { return nil }
        state = await machine.state()
        return state == before.state ? nil : before.state
    }
}
