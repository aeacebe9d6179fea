// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// Delays the machine's sleep until the service has let its readers go, and takes them back afterwards.
///
/// Without a login manager the service runs on, and nothing is prepared. One that does not answer is asked for the delay again.
package actor SleepKeeper {
    /// The longest time that preparing may take.
    private let patience: Duration
    /// The times between tries to delay the sleep; the last one is that between all later tries.
    private let pauses: [Duration]
    private let manager: any SleepManager
    private let prepare: @Sendable () async -> Void
    private let resume: @Sendable () async -> Void
    private let report: @Sendable (String) -> Void
    private var delay: (any SleepDelay)?
    private var retrying: Task<Void, Never>?
    private var isAsleep = false

    /// Describes a keeper that does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - manager: The part of the system that puts the machine to sleep.
    ///   - prepare: Called before each sleep, which waits for its end.
    ///   - resume: Called after each sleep.
    ///   - patience: The longest time that preparing may take: the login manager waits 5 seconds and then sleeps.
    ///   - pauses: The times between tries to delay the sleep; the last one is that between all later tries.
    ///   - report: Takes a sentence for the journal.
    package init(
        _ manager: any SleepManager,
        prepare: @escaping @Sendable () async -> Void,
        resume: @escaping @Sendable () async -> Void,
        patience: Duration = .seconds(4),
        pauses: [Duration] = [.seconds(5), .seconds(15), .seconds(60)],
        report: @escaping @Sendable (String) -> Void
    ) {
        self.manager = manager
        self.prepare = prepare
        self.resume = resume
        self.patience = patience
        self.pauses = pauses
        self.report = report
    }

    /// Follows the machine's sleep until the login manager's notices end.
    ///
    /// - Parameter begun: Called once, when a sleep that begins from now on is prepared for, or is known not to be.
    package func run(begun: @Sendable () -> Void = {}) async {
        let notices: AsyncStream<Bool>
        do throws(SystemBus.Fault) {
            // Followed before the delay is taken: no sleep falls in between unseen.
            notices = try await manager.sleepNotices()
        } catch {
            report("Cannot watch for sleep: \(error.cause).")
            return begun()
        }
        if await isGoingToSleep() { await sleep() } else { await hold() }
        begun()
        for await isAboutToSleep in notices {
            if isAboutToSleep { await sleep() } else { await wake() }
        }
        retrying?.cancel()
    }

    private func isGoingToSleep() async -> Bool {
        // A sleep that has begun is not delayed by a login manager that does not say so: nothing is lost by the try.
        (try? await manager.isGoingToSleep()) ?? false
    }

    private func hold() async {
        guard delay == nil else { return }
        do throws(SystemBus.Fault) {
            delay = try await manager.delaySleep()
        } catch {
            report("Cannot delay sleep: \(error.cause).")
            retrying?.cancel()
            retrying = Task { await holdLater() }
        }
    }

    /// Tries to delay the sleep again and again, until it is delayed or the machine sleeps.
    private func holdLater() async {
        var pauses = pauses[...]
        while let pause = pauses.first, await OffPoolTimer.wait(pause), delay == nil, !isAsleep {
            // A failure was reported once.
            if let taken = try? await manager.delaySleep() {
                // It may have been taken, or the sleep begun, while the login manager was asked.
                guard delay == nil, !isAsleep else { return }
                delay = taken
                return report("Sleep is now delayed while the reader is in use.")
            }
            if pauses.count > 1 { pauses.removeFirst() }
        }
    }

    private func sleep() async {
        guard !isAsleep else { return }
        isAsleep = true
        retrying?.cancel()
        let prepare = prepare
        // Work that does not end in time goes on; the machine does not wait for it.
        await OffPoolTimer.wait(atMost: patience) { end in
            Task {
                await prepare()
                end()
            }
        }
        delay = nil
    }

    private func wake() async {
        guard isAsleep else { return }
        isAsleep = false
        await resume()
        await hold()
    }
}
