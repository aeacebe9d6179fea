// SPDX-License-Identifier: Apache-2.0

package import Authentication

/// A change of a prompt that accepts the passcode: an update of the engine, or the effect of a key.
package enum PasscodePromptChange: Sendable, Hashable {
    /// An update from the engine.
    case told(PasscodePromptUpdate)
    /// The person asked for the passcode's line.
    case opened
    /// The number of typed characters changed.
    case typed(Int)
    /// The input cannot be a passcode; the text says the reason.
    case refused(String)
    /// The prompt ended before the engine announced its end.
    case interrupted
}

/// The content of a prompt that accepts the passcode: the finger's part as in any prompt, and the passcode's line below
/// it.
package struct PasscodePromptState: Drawing, Hashable {
    /// The content of the passcode's line.
    package enum Entry: Sendable, Hashable {
        /// There is no line yet.
        case hidden
        /// The line has this number of typed characters.
        case typed(Int)
        /// A passcode is being compared; the next one has this number of typed characters.
        case checking(Int)
        /// The line has been removed.
        case ended
    }

    /// The outcome of the prompt.
    package enum End: Sendable, Hashable {
        case good(String)
        case bad(String)
    }

    /// The finger's part; it is over when a finger is no longer asked for.
    package private(set) var finger: PromptState
    /// Whether a finger is asked for.
    package private(set) var asksFinger: Bool
    /// The reason why a finger is no longer asked for.
    package private(set) var obstacle: String?
    package private(set) var entry: Entry
    /// The result of the last passcode.
    package private(set) var verdict: String?
    package private(set) var end: End?

    package init(_ prompt: Prompt) {
        finger = PromptState(prompt)
        asksFinger = prompt.parts.contains(.finger)
        entry = prompt.parts == .passcode ? .typed(0) : .hidden
    }

    package static var interrupted: PasscodePromptChange { .interrupted }

    package var isOver: Bool { end != nil }

    package mutating func apply(_ change: PasscodePromptChange) {
        guard !isOver else { return }
        switch change {
        case .told(let update): apply(update)
        case .opened: if case .hidden = entry { entry = .typed(0) }
        case .typed(let count): type(count)
        case .refused(let text):
            type(0)
            verdict = text
        case .interrupted: end = .bad("Cancelled.")
        }
    }

    private mutating func type(_ count: Int) {
        switch entry {
        case .hidden, .typed: entry = .typed(count)
        case .checking: entry = .checking(count)
        case .ended: break
        }
        if count > 0 { verdict = nil }
    }

    private mutating func apply(_ update: PasscodePromptUpdate) {
        switch update {
        case .scan(let event): finger.apply(.scan(event))
        case .noMatch(let remaining): finger.apply(.noMatch(remaining: remaining))
        case .fingerEnded(let reason):
            (asksFinger, obstacle) = (false, reason)
            if case .hidden = entry { entry = .typed(0) }
        case .checking:
            (entry, verdict) = (.checking(0), nil)
        case .wrongPasscode, .throttled:
            verdict = Self.verdict(update)
            if case .checking(let count) = entry { entry = .typed(count) }
        case .passcodeEnded(let reason): (entry, verdict) = (.ended, reason)
        case .matched(let finger): end = .good(PromptState.matched(finger))
        case .verified: end = .good("The passcode is right.")
        case .ended(let reason): end = .bad(reason)
        }
    }

    /// Returns the text about a passcode that was wrong or was not compared; `nil` for any other update.
    static func verdict(_ update: PasscodePromptUpdate) -> String? {
        switch update {
        case .wrongPasscode(let left):
            switch left {
            case nil: "Wrong passcode."
            case 1: "Wrong passcode. 1 try left before a wait."
            case .some(..<1): "Wrong passcode. There is a wait before the next try."
            case .some(let left): "Wrong passcode. \(left) tries left before a wait."
            }
        case .throttled(let wait): "Too many passcodes were wrong. Wait \(wait.spoken)."
        case .scan, .noMatch, .fingerEnded, .checking, .passcodeEnded, .matched, .verified, .ended: nil
        }
    }
}
