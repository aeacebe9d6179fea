// SPDX-License-Identifier: Apache-2.0

/// The access to a reader, as measured at its device node.
///
/// It matters for readers that match on their chip: a program that opens one can replace a print there with another finger,
/// under the same identity.
public struct ReaderAccess: Sendable, Hashable, Codable {
    /// The result of the measurement.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Only root and the service can open the reader.
        case closed = "closed"
        /// Others can open it as well.
        case open = "open"
        /// It could not be measured.
        case unknown = "unknown"
        /// The reader has no device node: a mock, or a virtual or emulated reader.
        case pretended = "pretended"

        /// Returns the result for two measurements of one reader: closed only if both are.
        public func and(_ other: State) -> State {
            self == other ? self : self == .open || other == .open ? .open : .unknown
        }
    }

    /// The result.
    public let state: State
    /// The others who can open the reader, or the reason why it could not be measured; otherwise empty.
    public let details: [String]

    /// Makes a result.
    public init(_ state: State, _ details: [String] = []) {
        self.state = state
        self.details = details
    }
}
