// SPDX-License-Identifier: Apache-2.0

/// Why the server does not start, or a command of it does not do its work.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Sendable, Hashable {
        /// An option, or two together.
        case options
        /// The key file.
        case keyFile
        /// The certificate or its key.
        case certificate
        /// The database.
        case store
        /// The database has no signing keys: no server was ever set up on it.
        case noKeys
        /// A user that is not there, or there already; a password that is none.
        case account
    }

    /// The kind.
    public let code: Code
    /// What happened.
    public let message: String
    /// What helps.
    public let hint: String?

    /// One line, or two with the hint.
    public var description: String { hint.map { "\(message)\nhint: \($0)" } ?? message }

    /// Describes an error.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
