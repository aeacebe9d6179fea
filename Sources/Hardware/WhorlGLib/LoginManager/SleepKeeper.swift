// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// Delays system sleep until the service has released its readers, and reclaims them afterward.
///
/// Without a login manager, the service runs without preparing for sleep. If the login manager does not answer, the
/// delay is requested again.
package actor SleepKeeper {
    /// The time limit for preparing for sleep.
    private let patience: Duration
    /// The pauses between attempts to delay sleep.
    ///
    /// The last pause is repeated.
    private let pauses: [Duration]
    private let manager: any SleepManager
    private let prepare: @Sendable () async -> Void
    private let resume: @Sendable () async -> Void
    private let report: @Sendable (String) -> Void
    private var delay: (any SleepDelay)?
    private var retrying: Task<Void, Never>?
    private var isAsleep = false

    /// Creates a keeper, which is idle until ``run()``.
    ///
    /// - Parameters:
    ///   - manager: The system component that puts the machine to sleep.
    ///   - prepare: Called before each sleep, which is delayed until it returns.
    ///   - resume: Called after each sleep.
    ///   - patience: The time limit for preparing for sleep. The login manager itself waits only 5 seconds.
    ///   - pauses: The pauses between attempts to delay sleep, the last of which is repeated.
    ///   - report: A function that receives a sentence for the journal.
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

    /// Prepares for system sleep each time, until the login manager's notices end.
    ///
    /// - Parameter begun: Called once, when it is certain whether the keeper can prepare for sleep from now on.
    package func run(begun: @Sendable () -> Void = {}) async {
        let notices: AsyncStream<Bool>
        do throws(SystemBus.Fault) {
            // Subscribed before the delay is taken, so that no sleep in between goes unnoticed.
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
        // If the state is unknown, try anyway: requesting a delay after sleep has begun does no harm.
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

    /// Tries repeatedly to delay sleep until an attempt succeeds or the machine goes to sleep.
    private func holdLater() async {
        var pauses = pauses[...]
        while let pause = pauses.first, await OffPoolTimer.wait(pause), delay == nil, !isAsleep {
            // The failure was already reported.
            if let taken = try? await manager.delaySleep() {
                // In the meantime, the delay may have been taken or sleep may have begun.
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
        // Work that does not end in time continues; the machine does not wait for it.
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
