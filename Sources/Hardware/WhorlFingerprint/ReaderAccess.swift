// SPDX-License-Identifier: Apache-2.0

/// The access to a reader, as measured at its device node.
///
/// This matters for match-on-chip readers: a program that opens one can replace a print there with another finger,
/// under the same identity.
public struct ReaderAccess: Sendable, Hashable, Codable {
    /// The result of the measurement.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Only root and the service can open the reader.
        case closed = "closed"
        /// Other users can open it as well.
        case open = "open"
        /// It could not be measured.
        case unknown = "unknown"
        /// The reader has no device node because it is a mock, virtual or emulated.
        case pretended = "pretended"

        /// Returns the combined result of two measurements of one reader: closed only if both are.
        public func and(_ other: State) -> State {
            self == other ? self : self == .open || other == .open ? .open : .unknown
        }
    }

    /// The result.
    public let state: State
    /// The other users who can open the reader, or the reason why it could not be measured; otherwise empty.
    public let details: [String]

    /// Creates a result.
    public init(_ state: State, _ details: [String] = []) {
        self.state = state
        self.details = details
    }
}
