// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import Fingerprint
internal import GLibRuntime

/// What an operation that waits for fingers has to tell, and to whom.
struct RunningScan {
    var tracker: TouchTracker
    let observer: ScanObserver
    /// Ticks while the driver may be one that says nothing.
    let reminder: RepeatingTimer
}

extension LibfprintReader {
    /// For how many milliseconds a driver may say nothing before a touch is announced without it.
    private static var silence: UInt32 { 400 }

    /// Runs `body` as the operation whose events `observer` gets.
    func observed<Value: Sendable>(
        by observer: @escaping ScanObserver,
        presentations: Int = 1,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        watchFingerStatus()
        let reminder = RepeatingTimer(milliseconds: LibfprintReader.silence) { [weak self] in
            self?.assumeIsolated { $0.driverStaysSilent() }
        }
        scan = RunningScan(
            tracker: TouchTracker(presentations: presentations),
            observer: observer,
            reminder: reminder
        )
        fingerStatusChanged()
        defer { scan = nil }
        return try await interruptible(body)
    }

    /// A presentation of the running enrollment ended, well (`stage`) or not (`retry`).
    func presentationEnded(_ event: ScanEvent) {
        tell([event])
        let wasRead = if case .stage = event { true } else { false }
        tell(scan?.tracker.presentationEnded(wasRead: wasRead) ?? [])
    }

    private func watchFingerStatus() {
        guard statusChanges == nil else { return }
        statusChanges = SignalConnection(to: device, signal: "notify::finger-status") { [weak self] _ in
            self?.assumeIsolated { $0.fingerStatusChanged() }
        }
    }

    private func fingerStatusChanged() {
        let status = fingerStatus
        tell(scan?.tracker.statusChanged(to: status) ?? [])
    }

    private func driverStaysSilent() {
        tell(scan?.tracker.driverStaysSilent() ?? [])
    }

    private func tell(_ events: [ScanEvent]) {
        guard let observer = scan?.observer else { return }
        for event in events { observer(event) }
    }
}
