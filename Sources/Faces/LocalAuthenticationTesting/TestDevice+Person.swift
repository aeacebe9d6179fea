// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

extension TestDevice {
    /// An action of the person at a prompt.
    public enum Action: Sendable, Hashable {
        /// Places an enrolled finger on the reader.
        case match
        /// Places a finger on the reader that is not enrolled.
        case noMatch
        /// Places this finger on the reader, enrolled or not.
        case finger(Finger)
        /// Places a finger on the reader that cannot be read; this does not count as a try.
        case unreadable(ScanRetry)
        /// Types this passcode. Five wrong ones in a row are free; before each further one there is a wait
        /// (``TestDevice/pass(_:)``), and a passcode that is typed during the wait is not compared.
        case passcode(String)
        /// Presses cancel.
        case cancel
        /// Presses the fallback button; under `deviceOwnerAuthentication` this leads to the passcode, and the prompt
        /// continues.
        case fallback
        /// Disconnects the reader.
        case unplug
        /// Does nothing: the prompt stays until the app ends it, or its time runs out.
        case nothing
    }

    /// Adds actions of the person, one for each time that a prompt asks for something.
    ///
    /// They apply across prompts, in order, after the remaining ones. An action that a prompt does not offer, such as a
    /// passcode where only a finger is accepted or a button that is hidden, is skipped. When no actions remain, the
    /// person performs ``otherwise``.
    public func next(_ actions: Action...) { person.append(actions) }

    /// The action of the person when those of ``next(_:)`` have run out: cancel by default, so that a test neither
    /// hangs nor succeeds by chance.
    public var otherwise: Action {
        get { person.otherwise }
        set { person.otherwise = newValue }
    }

    /// The actions that were not performed yet.
    public var remainingActions: [Action] { person.remaining }

    /// Removes the actions that were not performed yet.
    public func dropActions() { person.drop() }
}

/// A record of a prompt.
public struct TestPromptRecord: Sendable, Hashable {
    /// The app's reason.
    public let reason: String
    /// The text of the cancel button.
    public let cancelTitle: String
    /// The text of the fallback button; `nil` if there was none.
    public let fallbackTitle: String?
    /// Whether the prompt asked for a finger.
    public let asksForFinger: Bool
    /// Whether the prompt asked for the passcode.
    public let asksForPasscode: Bool
}
