// SPDX-License-Identifier: Apache-2.0

/// An error in starting the server, or of one of its commands.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Hashable {
        /// An option, or a combination of options, is invalid.
        case options
        /// The key file cannot be used.
        case keyFile
        /// The certificate or its key cannot be used.
        case certificate
        /// The database cannot be used.
        case store
        /// The database contains no signing keys, because no server was ever set up on it.
        case noKeys
        /// A user does not exist or already exists; or a password is not allowed.
        case account
    }

    /// The kind of error.
    public let code: Code
    /// One sentence about the failure.
    public let message: String
    /// A hint about the remedy, if any.
    public let hint: String?

    /// One line, or two with the hint.
    public var description: String { hint.map { "\(message)\nhint: \($0)" } ?? message }

    /// Creates an error.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
