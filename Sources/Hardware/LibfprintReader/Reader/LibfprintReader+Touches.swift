// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import WhorlFingerprint
internal import GLibRuntime

/// The events of an operation that waits for fingers, and their observer.
struct RunningScan {
    var tracker: TouchTracker
    let observer: ScanObserver
    /// A timer that runs while the driver may be one that reports no finger status.
    let reminder: RepeatingTimer
}

extension LibfprintReader {
    /// The number of milliseconds of a driver's silence after which a touch is announced without it.
    private static var silence: UInt32 { 400 }

    /// Runs `body` as the operation whose events go to `observer`.
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

    /// Reports that a presentation of the running enrollment ended, successfully (`stage`, before it `alike`) or not (`retry`).
    func presentationEnded(_ event: ScanEvent) {
        tell([event])
        guard event != .alike else { return }  // the end of this presentation follows
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
