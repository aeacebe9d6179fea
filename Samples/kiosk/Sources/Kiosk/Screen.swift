// SPDX-License-Identifier: Apache-2.0

/// The content of the screen.
public struct Screen: Equatable, Sendable {
    /// The pages.
    public enum Page: String, Equatable, Sendable {
        /// Prompts for a name or a badge number.
        case ask
        /// An unknown number was typed, and the next one must wait.
        case pause
        /// PAM is busy: it waits for a touch or compares.
        case wait
        /// PAM asks a question whose answer may be visible.
        case question
        /// PAM prompts for a password.
        case password
        /// The user has left, and PAM has not ended yet.
        case leaving
        /// A user has checked in, and the next one can type.
        case arrived
        /// The session starts.
        case farewell
        /// The kiosk cannot be used, because one of the administrator's files is invalid.
        case broken
    }

    /// The current page.
    public var page = Page.ask
    /// The name of the authenticated user.
    ///
    /// Until then it is empty, so that a badge number does not reveal a name.
    public var person = ""
    /// The message from PAM or from the kiosk.
    public var sentence = ""
    /// The reason for returning to the first page, until it could be read.
    public var reason = ""

    /// Whether the user can open the till.
    public var offersTill = false

    init() {}

    /// Whether something can be typed, so that the page times out without input.
    public var waitsForKeys: Bool { takesNames || page == .question || page == .password }

    /// Whether a name or a badge number can be typed.
    public var takesNames: Bool { page == .ask || page == .arrived }
}
