// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// An answer of greetd.
public enum Answer: Equatable, Sendable {
    /// The request was carried out; a login that was begun may be started.
    case success
    /// PAM did not let the person in.
    case refused(String)
    /// Something went wrong that is no decision about the person.
    case failed(String)
    /// PAM says something, or asks.
    case sentence(Kind, String)

    /// The kinds of sentences.
    public enum Kind: Equatable, Sendable {
        /// A question whose answer is shown while it is typed.
        case visible
        /// A question whose answer is not shown.
        case secret
        /// A sentence that asks nothing.
        case info
        /// A sentence about something that went wrong, which asks nothing.
        case error
    }

    /// Reads a message; `nil` for what is no answer of greetd, of which nothing may be believed.
    ///
    /// - Parameter message: The bytes of one message, without their length.
    public init?(_ message: [UInt8]) {
        guard message.count <= Frames.limit,
            // A message that cannot be read is told from others by nothing else.
            let message = try? JSONDecoder().decode(Message.self, from: Data(message))
        else { return nil }
        switch message.type {
        case "success": self = .success
        case "error":
            let description = PlainText.clean(message.description ?? "")
            switch message.errorType {
            case "auth_error": self = .refused(description)
            case "error": self = .failed(description)
            default: return nil
            }
        case "auth_message":
            guard let sentence = message.sentence, let kind = message.kind.flatMap(Kind.init) else {
                return nil
            }
            self = .sentence(kind, PlainText.clean(sentence))
        default: return nil
        }
    }

    /// The members of greetd's answers.
    private struct Message: Decodable {
        var type: String
        var errorType: String?
        var description: String?
        var kind: String?
        var sentence: String?

        enum CodingKeys: String, CodingKey {
            case type, description
            case errorType = "error_type"
            case kind = "auth_message_type"
            case sentence = "auth_message"
        }
    }
}

extension Answer.Kind {
    fileprivate init?(_ name: String) {
        switch name {
        case "visible": self = .visible
        case "secret": self = .secret
        case "info": self = .info
        case "error": self = .error
        default: return nil
        }
    }
}
