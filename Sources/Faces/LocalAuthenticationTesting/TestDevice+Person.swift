// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

extension TestDevice {
    /// What the person does when a prompt asks for something.
    public enum Action: Sendable, Hashable {
        /// Lays an enrolled finger on the reader.
        case match
        /// Lays a finger on the reader that is not enrolled.
        case noMatch
        /// Lays this finger on the reader, enrolled or not.
        case finger(Finger)
        /// Lays a finger on the reader that cannot be read; it costs no try.
        case unreadable(ScanRetry)
        /// Types this passcode. Five wrong ones in a row are free; before each further one there is a wait
        /// (``TestDevice/pass(_:)``), and what is typed meanwhile is not compared.
        case passcode(String)
        /// Presses cancel.
        case cancel
        /// Presses the fallback button; under `deviceOwnerAuthentication` that leads to the passcode, and the prompt goes on.
        case fallback
        /// Pulls the reader out.
        case unplug
        /// Does nothing and goes away: the prompt stays until the app ends it, or the time does.
        case nothing
    }

    /// Says what the person does next, one action for each time that something is asked for.
    ///
    /// They count across prompts, in order, behind those that are left. What a prompt does not offer, such as a passcode where
    /// only a finger counts or a button that is hidden, is left out. When nothing is left, the person does
    /// ``otherwise``.
    public func next(_ actions: Action...) { person.append(actions) }

    /// What the person does when ``next(_:)`` has run out: presses cancel, unless a test says otherwise, so that a test neither
    /// hangs nor succeeds by chance.
    public var otherwise: Action {
        get { person.otherwise }
        set { person.otherwise = newValue }
    }

    /// The actions that no prompt has asked for yet.
    public var remainingActions: [Action] { person.remaining }

    /// Forgets the actions that no prompt has asked for yet.
    public func dropActions() { person.drop() }
}

/// What a prompt said.
public struct TestPromptRecord: Sendable, Hashable {
    /// Why the app asked.
    public let reason: String
    /// The text of the cancel button.
    public let cancelTitle: String
    /// The text of the fallback button; `nil` where there was none.
    public let fallbackTitle: String?
    /// Whether a finger was asked for.
    public let asksForFinger: Bool
    /// Whether the passcode was asked for.
    public let asksForPasscode: Bool
}
