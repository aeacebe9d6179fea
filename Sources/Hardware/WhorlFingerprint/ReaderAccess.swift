// SPDX-License-Identifier: Apache-2.0

/// The users who can access a reader, as determined from its device node.
///
/// This matters for match-on-chip readers, because a program that opens one can replace a stored print with another
/// finger under the same identity.
public struct ReaderAccess: Sendable, Hashable, Codable {
    /// The result of checking the access to a reader.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Only root and the service can open the reader.
        case closed = "closed"
        /// Other users can open the reader as well.
        case open = "open"
        /// The access could not be determined.
        case unknown = "unknown"
        /// The reader has no device node because it is a mock, virtual or emulated.
        case pretended = "pretended"

        /// Returns the combined result of two checks of one reader, which is closed only if both results are.
        public func and(_ other: State) -> State {
            self == other ? self : self == .open || other == .open ? .open : .unknown
        }
    }

    /// The result.
    public let state: State
    /// The other users who can open the reader, or the reason why the access could not be determined.
    ///
    /// In all other cases, the list is empty.
    public let details: [String]

    /// Creates a result.
    public init(_ state: State, _ details: [String] = []) {
        self.state = state
        self.details = details
    }
}
