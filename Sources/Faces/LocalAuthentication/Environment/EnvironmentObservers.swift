// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import Dispatch
internal import Foundation
internal import Synchronization
internal import WhorlSupport

/// Who observes an environment, and the watch that runs while somebody does.
final class EnvironmentObservers: Sendable {
    /// An observer, as long as it lives.
    ///
    /// It is `@unchecked Sendable`: the reference is only compared, and followed on the queue for calls, where Apple's systems
    /// call observers of any kind too.
    private final class Entry: @unchecked Sendable {
        weak let observer: (any LAEnvironment.Observer)?
        /// Which object, as long as it lives.
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

    /// How often the database's mark is looked at.
    private static let period = Duration.seconds(1)

    deinit { state.withLock { $0.watch?.cancel() } }

    func add(_ observer: any LAEnvironment.Observer, to environment: LAEnvironment) {
        let entry = Entry(observer)
        // Another object may have had this one's place before.
        let gone = withoutObserver()
        let isFirst = state.withLock { state in
            state.remove(gone)
            guard !state.entries.contains(where: { $0.id == entry.id }) else { return false }
            state.entries.append(entry)
            return state.watch == nil
        }
        guard isFirst else { return }
        let machine = environment.machine
        // Before this returns, so that what changes right afterwards is a change.
        let (events, look) = WorkerThread.preflights.wait {
            let events = await machine.readerEvents()
            return (events, await MachineLook(machine))
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
        // Somebody else's observer was added at the same moment.
        if isSecond { watch.cancel() }
    }

    func remove(_ observer: any LAEnvironment.Observer) {
        let id = ObjectIdentifier(observer)
        state.withLock { $0.entries.removeAll { $0.id == id } }
        _ = endWithoutObservers()
    }

    /// Looks whenever a reader comes or goes, and every second, until nobody is there to be told.
    ///
    /// - Parameters:
    ///   - first: The look that was taken before.
    ///   - events: One for each reader that comes or goes.
    ///   - tell: Gets the state before where there is another one; answers whether anybody still observes.
    private static func watch(
        _ first: MachineLook,
        _ events: AsyncStream<Void>,
        _ tell: (LAEnvironment.State?) -> Bool
    ) async {
        var look = first
        let (ticks, sink) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .unbounded)
        // On the watch's own thread, and without the pool's clock: a program may block every thread of the pool.
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

    /// Calls the observers where there is something to tell.
    ///
    /// - Returns: Whether anybody still observes.
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

    /// Ends the watch where no observer lives any more.
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

    /// The entries whose observer has ended.
    ///
    /// Whoever looks at an observer holds it meanwhile. It may end when he lets go, and call ``remove(_:)`` from its
    /// `deinit`: so it is looked at without the lock.
    private func withoutObserver() -> [Entry] {
        state.withLock(\.entries).filter { $0.observer == nil }
    }
}
