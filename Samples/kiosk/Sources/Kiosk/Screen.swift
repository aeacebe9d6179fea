// SPDX-License-Identifier: Apache-2.0

/// The content of the screen.
public struct Screen: Equatable, Sendable {
    /// The pages.
    public enum Page: String, Equatable, Sendable {
        /// A name or a badge's number is asked for.
        case ask
        /// An unknown number was typed, and the next one has to wait.
        case pause
        /// PAM is at work: it waits for a touch, or compares.
        case wait
        /// PAM asks something that is typed and may be seen.
        case question
        /// PAM asks for a password.
        case password
        /// The person has gone, and PAM has not ended yet.
        case leaving
        /// A person has checked in, and the next one may type.
        case arrived
        /// The session begins.
        case farewell
        /// The kiosk takes no one: a file of the administrator's is wrong.
        case broken
    }

    /// The page.
    public var page = Page.ask
    /// The name of the person who was let in; empty before that, so that a number shows no one's name.
    public var person = ""
    /// The sentence of PAM or of the kiosk itself.
    public var sentence = ""
    /// The reason why the first page has come back, until it could be read.
    public var reason = ""

    /// Whether the person may go on to the till.
    public var offersTill = false

    init() {}

    /// Whether something can be typed, so that the screen is left when nothing is.
    public var waitsForKeys: Bool { takesNames || page == .question || page == .password }

    /// Whether a name or a badge's number can be typed.
    public var takesNames: Bool { page == .ask || page == .arrived }
}
