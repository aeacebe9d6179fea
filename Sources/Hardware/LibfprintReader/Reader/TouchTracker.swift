// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint

/// Decides when to say "touch": once for each presentation that the reader waits for.
///
/// Drivers differ. Most say that a finger is needed and that it is there; some say neither; for image readers the
/// result of one presentation may come after the reader waits for the next one; and some still say that a finger
/// is needed when they have just read the last. So a touch is open from when it is said until a finger or a
/// result answers it, and fingers whose result has not come yet count as presentations.
/// An operation that takes one presentation asks once, whatever its driver reports on the way out.
struct TouchTracker {
    /// Good presentations that the operation takes: several for an enrollment, else one.
    let presentations: Int
    /// Presentations that were read well.
    private var done = 0
    /// Fingers that came and whose result did not, yet.
    private var unreported = 0
    /// A touch was said, and neither finger nor result came since.
    private var isOpen = false
    private var hasAsked = false
    private var status = FingerStatus(needed: false, present: false)
    /// Calls of ``driverStaysSilent()`` since the driver said something.
    private var silences = 0

    /// After so many silences no result comes any more.
    ///
    /// The finger was not read, and is there no more, even if the driver forgot to say so.
    private static let patience = 5

    init(presentations: Int) { self.presentations = presentations }

    /// The reader's finger status changed.
    ///
    /// - Returns: The events that this means.
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
        if begins, isDue { events.append(touch()) }
        return events
    }

    /// A presentation ended, and the operation goes on.
    mutating func presentationEnded(wasRead: Bool) -> [ScanEvent] {
        silences = 0
        // Without a finger before it, it is the answer to the open touch: the driver does not tell of fingers.
        if unreported > 0 { unreported -= 1 } else { isOpen = false }
        if wasRead { done += 1 }
        return isDue && status.needed && !status.present ? [touch()] : []
    }

    /// Nothing was heard from the driver for a while: it may be one that does not tell, or did not read.
    mutating func driverStaysSilent() -> [ScanEvent] {
        silences += 1
        let isOver = silences >= TouchTracker.patience
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
