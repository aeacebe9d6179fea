// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import WhorlGLib
internal import WhorlFingerprint

/// The events of an operation that waits for fingers, and the observer of these events.
struct RunningScan {
    var tracker: TouchTracker
    let observer: ScanObserver
    /// A timer that runs until the driver has shown that it reports the finger status.
    let reminder: RepeatingTimer
}

extension LibfprintReader {
    /// The time without a report from the driver after which a touch is announced anyway, in milliseconds.
    private static var silence: UInt32 { 400 }

    /// Runs `body` as the operation whose events are sent to `observer`.
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

    /// Reports that a presentation of the enrollment in progress has ended, either successfully (`stage`, preceded by
    /// `alike` if it applies) or not (`retry`).
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

/// Decides when to report a "touch" event, which happens once for each presentation that the reader waits for.
///
/// Drivers differ. Most report when a finger is needed and when it is present, but some report neither. Image readers
/// may deliver the result of one presentation after they started to wait for the next one. Some drivers still report
/// that a finger is needed after the last one was read.
///
/// A touch is therefore open from the time it is reported until a finger or a result arrives, and fingers without a
/// result count as presentations. If a driver reports when it needs a finger, no touch is reported while it analyzes
/// one, because the driver would miss the next finger. An operation with one presentation prompts only once, no matter
/// what its driver reports at the end.
struct TouchTracker {
    /// The number of good presentations in the operation, which is one unless it is an enrollment.
    let presentations: Int
    /// The number of presentations read successfully.
    private var done = 0
    /// The number of fingers without a result so far.
    private var unreported = 0
    /// Whether a touch was reported and no finger or result has arrived since then.
    private var isOpen = false
    private var hasAsked = false
    /// Whether the driver has reported that a finger is needed.
    private var reportsNeed = false
    private var status = FingerStatus(needed: false, present: false)
    /// The number of calls to ``driverStaysSilent()`` since the driver last reported something.
    private var silences = 0

    /// The number of silences after which a result is no longer expected.
    ///
    /// By then, the finger was not read and is no longer present, even if the driver did not report that.
    private static let patience = 5

    init(presentations: Int) { self.presentations = presentations }

    /// Processes a new finger status from the reader.
    ///
    /// - Returns: The resulting events.
    mutating func statusChanged(to new: FingerStatus) -> [ScanEvent] {
        silences = 0
        var events: [ScanEvent] = []
        if new.present != status.present { events.append(.finger(present: new.present)) }
        if new.present, !status.present {
            unreported += 1
            isOpen = false
        }
        let begins = new.needed && !new.present && (!status.needed || status.present)
        status = new
        if new.needed { reportsNeed = true }
        if begins, isDue { events.append(touch()) }
        return events
    }

    /// Processes the end of a presentation, after which the operation continues.
    mutating func presentationEnded(wasRead: Bool) -> [ScanEvent] {
        silences = 0
        // Without a preceding finger, the presentation completes the open touch: the driver does not report fingers.
        if unreported > 0 { unreported -= 1 } else { isOpen = false }
        if wasRead { done += 1 }
        return isDue && status.needed && !status.present ? [touch()] : []
    }

    /// Processes a period of silence, which means that the driver may not report fingers or did not read one.
    mutating func driverStaysSilent() -> [ScanEvent] {
        silences += 1
        let isOver = silences >= TouchTracker.patience
        let isAnalyzing = unreported > 0 && !status.needed && !status.present
        if isAnalyzing, reportsNeed || !isOver { return [] }
        if isOver { unreported = 0 }
        return isDue && (isOver || !status.present) ? [touch()] : []
    }

    private var isDue: Bool {
        !isOpen && done + unreported < presentations && (presentations > 1 || !hasAsked)
    }

    private mutating func touch() -> ScanEvent {
        isOpen = true
        hasAsked = true
        return .touch
    }
}
