// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A response from greetd.
public enum Answer: Equatable, Sendable {
    /// The request succeeded. A login that was begun can be started.
    case success
    /// PAM did not authenticate the user.
    case refused(String)
    /// An error that is not a decision about the user.
    case failed(String)
    /// A message or a question from PAM.
    case sentence(Kind, String)

    /// The kinds of PAM messages.
    public enum Kind: Equatable, Sendable {
        /// A question whose answer is visible while it is typed.
        case visible
        /// A question whose answer is hidden while it is typed.
        case secret
        /// An informational message, which requires no answer.
        case info
        /// An error message, which requires no answer.
        case error
    }

    /// Parses a message; `nil` if it is not a valid response from greetd, in which case none of it can be trusted.
    ///
    /// - Parameter message: The bytes of one message, without its length.
    public init?(_ message: [UInt8]) {
        guard message.count <= Frames.limit,
            // Why a message cannot be parsed makes no difference.
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

    /// The members of greetd's responses.
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
