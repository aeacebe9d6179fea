// SPDX-License-Identifier: Apache-2.0

package import Authentication

/// What happens to a prompt that the passcode can meet: what the engine tells, and what the keys do.
package enum PasscodePromptChange: Sendable, Hashable {
    /// The engine tells something.
    case told(PasscodePromptUpdate)
    /// The person asked for the passcode's line.
    case opened
    /// So many characters are typed.
    case typed(Int)
    /// What was typed cannot be a passcode, for the reason that the text says.
    case refused(String)
    /// It is over before the engine said so.
    case interrupted
}

/// What a prompt that the passcode can meet shows at one moment: the finger's part as in any prompt, and the passcode's line
/// below it.
package struct PasscodePromptState: Drawing, Hashable {
    /// What stands in the passcode's line.
    package enum Entry: Sendable, Hashable {
        /// There is no line yet.
        case hidden
        /// So many characters are typed.
        case typed(Int)
        /// A passcode is being compared, and so many characters of a next one are typed.
        case checking(Int)
        /// There is no line any more.
        case ended
    }

    /// How it ended.
    package enum End: Sendable, Hashable {
        case good(String)
        case bad(String)
    }

    /// The finger's part; it is over when no finger is asked for any more.
    package private(set) var finger: PromptState
    /// Whether a finger is asked for.
    package private(set) var asksFinger: Bool
    /// Why no finger is asked for any more.
    package private(set) var obstacle: String?
    package private(set) var entry: Entry
    /// What became of the last passcode.
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

    /// What is said about a passcode that was not the right one, or not compared; `nil` for any other update.
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
