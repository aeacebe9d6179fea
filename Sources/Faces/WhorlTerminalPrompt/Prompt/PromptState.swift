// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
package import WhorlService

/// A change to a prompt: an update from the engine, or the effect of a key.
package enum PromptChange: Sendable, Hashable {
    /// An update from the engine.
    case told(PromptUpdate)
    /// The user opened the passcode field.
    case opened
    /// The number of typed characters changed.
    case typed(Int)
    /// The input cannot be a passcode, for the reason in the text.
    case refused(String)
    /// The prompt ended before the engine announced its end. The value is the button that ended it, if any.
    case left(PromptAction?)
}

/// The content of a prompt: the fingerprint part, and the passcode field below it.
///
/// The state is a value type that applies changes to itself and can be drawn.
package struct PromptState: Drawing, Hashable {
    /// The phase of the fingerprint part.
    package enum Finger: Sendable, Hashable {
        /// The reader is being prepared.
        case preparing
        /// The prompt waits for a finger.
        case waiting
        /// A finger is on the sensor.
        case reading
        /// Fingers are no longer read.
        case ended
    }

    /// The content of the passcode field.
    package enum Passcode: Sendable, Hashable {
        /// The field is not shown yet.
        case hidden
        /// The field contains this number of typed characters.
        case typed(Int)
        /// A passcode is being checked. In the meantime, this number of characters of the next passcode have been
        /// typed.
        case checking(Int)
        /// The field has been removed.
        case ended
    }

    /// The outcome of the prompt.
    package enum End: Sendable, Hashable {
        case good(String)
        case bad(String)
    }

    /// The number of completed touches, and the total number of touches.
    package struct Progress: Sendable, Hashable {
        package let completed: Int
        package let total: Int
    }

    package let prompt: Prompt
    package private(set) var finger: Finger
    /// The problem with the last touch, shown until a finger is read again, or the reason why fingers are not read.
    package private(set) var hint: String?
    package private(set) var progress: Progress?
    package private(set) var passcode: Passcode
    /// The result of checking the last passcode.
    package private(set) var verdict: String?
    package private(set) var end: End?

    package init(_ prompt: Prompt) {
        self.prompt = prompt
        finger = prompt.parts == .passcode ? .ended : .preparing
        passcode = prompt.parts == .passcode ? .typed(0) : .hidden
    }

    package static var interrupted: PromptChange { .left(nil) }

    /// Whether the prompt has ended.
    package var isOver: Bool { end != nil }

    package mutating func apply(_ change: PromptChange) {
        guard !isOver else { return }  // a finger that is lifted afterwards changes nothing
        switch change {
        case .told(let update): if prompt.shows(update) { apply(update) }
        case .opened: openLine()
        case .typed(let count): type(count)
        case .refused(let text):
            type(0)
            verdict = text
        case .left(let button): end = .bad(Self.farewell(button))
        }
    }

    static func farewell(_ button: PromptAction?) -> String {
        switch button {
        case .fallback: "Fallback chosen."
        case .cancel, nil: "Canceled."
        }
    }

    private mutating func openLine() {
        if case .hidden = passcode { passcode = .typed(0) }
    }

    private mutating func type(_ count: Int) {
        switch passcode {
        case .hidden, .typed: passcode = .typed(count)
        case .checking: passcode = .checking(count)
        case .ended: break
        }
        if count > 0 { verdict = nil }
    }

    private mutating func apply(_ update: PromptUpdate) {
        let message = prompt.message(for: update) ?? ""
        switch update {
        case .scan(let event): if finger != .ended { apply(event) }
        case .noMatch, .anotherFinger: if finger != .ended { hint = message }
        case .fingerEnded:
            (finger, hint) = (.ended, message)
            if prompt.parts.contains(.passcode) { openLine() }
        case .checking: (passcode, verdict) = (.checking(0), nil)
        case .wrongPasscode, .throttled:
            verdict = message
            if case .checking(let count) = passcode { passcode = .typed(count) }
        case .passcodeEnded: (passcode, verdict) = (.ended, message)
        case .matched, .verified: end = .good(message)
        case .ended: end = .bad(message)
        }
    }

    private mutating func apply(_ event: ScanEvent) {
        switch event {
        case .touch: finger = .waiting
        case .finger(let present):
            finger = present ? .reading : .waiting
            if present { hint = nil }
        case .retry(let reason): hint = reason.hint
        case .alike: break  // an evaluation has no such event
        case .stage(let completed, let total):
            progress = Progress(completed: completed, total: total)
            hint = nil
        }
    }
}
