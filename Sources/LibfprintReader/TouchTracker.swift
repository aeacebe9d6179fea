// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint

/// Decides when to say "touch": once for each presentation that the reader waits for.
///
/// Drivers differ. Most say that a finger is needed and that it is there; some say neither; and for image
/// readers the result of one presentation may come after the reader waits for the next one. So touches are
/// counted against presentations: a touch is due when every earlier one was answered, by a result or by a finger.
/// An operation that takes one presentation asks once, whatever its driver reports on the way out.
struct TouchTracker {
    /// Whether the operation takes more than one presentation, as an enrollment does.
    let takesMany: Bool
    private var touches = 0
    private var results = 0
    private var status = FingerStatus(needed: false, present: false)
    private var fingerSinceTouch = false

    /// The reader's finger status changed.
    ///
    /// - Returns: The events that this means.
    mutating func statusChanged(to new: FingerStatus) -> [ScanEvent] {
        var events: [ScanEvent] = []
        if new.present != status.present { events.append(.finger(present: new.present)) }
        if new.present { fingerSinceTouch = true }
        let begins = new.needed && !new.present && (!status.needed || status.present)
        status = new
        if begins, isDue || (takesMany && fingerSinceTouch) { events.append(touch()) }
        return events
    }

    /// A presentation was read, well or not, and another one is wanted.
    mutating func presentationEnded() -> [ScanEvent] {
        results += 1
        return isDue && status.needed && !status.present ? [touch()] : []
    }

    /// Nothing was heard from the driver for a while: it may be one that does not tell.
    mutating func driverStaysSilent() -> [ScanEvent] {
        isDue && !status.present ? [touch()] : []
    }

    init(takesMany: Bool) { self.takesMany = takesMany }

    private var isDue: Bool { touches <= results && (takesMany || touches == 0) }

    private mutating func touch() -> ScanEvent {
        touches += 1
        fingerSinceTouch = false
        return .touch
    }
}
