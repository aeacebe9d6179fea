// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlFingerprint
import WhorlService

/// Guides a person through the presentations of an enrollment, so that the template knows more than one part of the
/// finger.
///
/// One guide serves one round of presentations. It tells which part of the finger to show, and counts the presentations
/// that showed the same part again; libfprint takes them all the same.
final class EnrollmentGuide: Sendable {
    private struct State {
        var completed = 0
        var alike = 0
        var asked: FingerArea?
    }

    private let hasAreas: Bool
    private let tell: @Sendable (EnrollmentProgress) -> Void
    private let state = Mutex(State())

    /// Makes a guide for a reader; one over which the finger is drawn sees all of its width anyway.
    init(_ info: ReaderInfo, _ tell: @escaping @Sendable (EnrollmentProgress) -> Void) {
        hasAreas = info.scanType == .press
        self.tell = tell
    }

    /// Tells an event of the reader, and before a touch the part of the finger that it is to show.
    func pass(_ event: ScanEvent) {
        switch event {
        case .touch:
            if let area = nextArea() { tell(.area(area)) }
        case .alike: state.withLock { $0.alike += 1 }
        case .stage(let completed, total: _): state.withLock { $0.completed = completed }
        case .finger, .retry: break
        }
        tell(.scan(event))
    }

    private func nextArea() -> FingerArea? {
        guard hasAreas else { return nil }
        return state.withLock { state in
            let area = FingerArea.area(ofPresentation: state.completed)
            defer { state.asked = area }
            return area == state.asked ? nil : area
        }
    }

    /// The number of presentations that showed the same part as an earlier one.
    var alike: Int { state.withLock(\.alike) }

    /// Whether so many presentations were alike that another round makes a better template.
    var isTooMuchAlike: Bool { state.withLock { $0.alike * 2 > $0.completed } }
}
