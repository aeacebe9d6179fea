// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Synchronization
import Testing

/// A machine that sleeps when a test says so.
private final class SleepyMachine: SleepManager {
    final class Delay: SleepDelay {
        private let onEnd: @Sendable () -> Void
        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
        deinit { onEnd() }
    }

    let log = Mutex<[String]>([])
    private let refusal: SystemBus.Fault?
    /// How often a delay is refused; without a number, always.
    private let refusals: Mutex<Int?>
    private let isSleeping: Bool
    private let isUnknown: Bool
    private let notices: AsyncStream<Bool>
    private let sink: AsyncStream<Bool>.Continuation

    init(
        refusing refusal: SystemBus.Fault? = nil,
        times: Int? = nil,
        isSleeping: Bool = false,
        isUnknown: Bool = false
    ) {
        self.refusal = refusal
        self.refusals = Mutex(times)
        self.isSleeping = isSleeping
        self.isUnknown = isUnknown
        (notices, sink) = AsyncStream.makeStream()
    }

    func add(_ line: String) { log.withLock { $0.append(line) } }
    func say(_ notices: Bool...) {
        for notice in notices { sink.yield(notice) }
        sink.finish()
    }

    func delaySleep() async throws(SystemBus.Fault) -> any SleepDelay {
        if let refusal, isRefused() { throw refusal }
        add("delay")
        return Delay { self.add("released") }
    }
    private func isRefused() -> Bool {
        refusals.withLock { left in
            guard let count = left else { return true }
            left = max(0, count - 1)
            return count > 0
        }
    }
    func sleepNotices() async throws(SystemBus.Fault) -> AsyncStream<Bool> { notices }
    func isGoingToSleep() async throws(SystemBus.Fault) -> Bool {
        if isUnknown { throw SystemBus.Fault(name: nil, cause: "no answer") }
        return isSleeping
    }

    /// Follows the machine's sleep to the end of its notices, and returns what happened in which order.
    ///
    /// - Parameters:
    ///   - patience: The longest time that preparing may take.
    ///   - work: What takes time in preparing.
    /// - Returns: The lines of the log.
    func followed(
        patience: Duration = .seconds(600),
        while work: @escaping @Sendable () async -> Void = { await Task.yield() }
    ) async -> [String] {
        let keeper = SleepKeeper(
            self,
            prepare: {
                self.add("prepare")
                await work()
                self.add("prepared")
            },
            resume: { self.add("resume") },
            patience: patience,
            pauses: [.milliseconds(1)],
            report: { sentence in
                self.add(sentence)
                // A machine that refuses at first sleeps when it no longer does.
                if sentence.hasPrefix("Sleep is now delayed") { self.say(true) }
            }
        )
        await keeper.run { self.add("begun") }
        return log.withLock(\.self)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The machine's sleep` {
    @Test func `is delayed until everything is prepared, and again after it`() async {
        let machine = SleepyMachine()
        machine.say(true, false, true)
        #expect(
            await machine.followed() == [
                "delay", "begun", "prepare", "prepared", "released", "resume", "delay", "prepare", "prepared",
                "released",
            ]
        )
    }

    @Test func `is prepared for once, however often it is announced`() async {
        let machine = SleepyMachine()
        machine.say(true, true, false, false)
        #expect(
            await machine.followed() == [
                "delay", "begun", "prepare", "prepared", "released", "resume", "delay",
            ]
        )
    }

    @Test func `that had begun before the service is prepared for at once`() async {
        let machine = SleepyMachine(isSleeping: true)
        machine.say(false)
        #expect(
            await machine.followed().prefix(5) == ["prepare", "prepared", "begun", "resume", "delay"]
        )
    }

    @Test func `is prepared for also where it cannot be delayed, which is said`() async {
        let machine = SleepyMachine(refusing: SystemBus.Fault(name: nil, cause: "not allowed"))
        machine.say(true)
        #expect(
            await machine.followed() == [
                "Cannot delay sleep: not allowed.", "begun", "prepare", "prepared",
            ]
        )
    }

    @Test func `is delayed as soon as a login manager that was busy at first allows it`() async {
        let machine = SleepyMachine(refusing: SystemBus.Fault(name: nil, cause: "no answer"), times: 3)
        #expect(
            await machine.followed() == [
                "Cannot delay sleep: no answer.", "begun", "delay",
                "Sleep is now delayed while the reader is in use.", "prepare", "prepared", "released",
            ]
        )
    }

    @Test func `is delayed also where the login manager does not say whether it has begun`() async {
        let machine = SleepyMachine(isUnknown: true)
        machine.say(true)
        #expect(await machine.followed() == ["delay", "begun", "prepare", "prepared", "released"])
    }

    @Test func `is not delayed for ever where preparing does not end`() async {
        let machine = SleepyMachine()
        machine.say(true, false)
        let (door, opening) = AsyncStream.makeStream(of: Void.self)
        let log = await machine.followed(patience: .milliseconds(20)) { for await _ in door {} }
        #expect(log == ["delay", "begun", "prepare", "released", "resume", "delay"])
        opening.finish()
    }
}
