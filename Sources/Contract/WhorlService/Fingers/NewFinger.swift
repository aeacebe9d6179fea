// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// A finger that is to be enrolled.
public struct NewFinger: Sendable, Hashable, Codable {
    /// The name of the finger.
    public var finger: Finger
    /// The owner's own words for it, of which at most 100 characters are kept; `nil` for none.
    public var label: String?
    /// Whether the enrollment asks for other parts of the finger in turn, repeats itself once where the presses were too
    /// much alike, and ends with test touches, which change nothing.
    public var isGuided: Bool

    /// Makes a description.
    public init(_ finger: Finger, label: String? = nil, isGuided: Bool = false) {
        self.finger = finger
        self.label = label
        self.isGuided = isGuided
    }

    /// Reads a description; programs of an earlier version ask for no guidance.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(Finger.self, forKey: .finger),
            label: try members.decodeIfPresent(String.self, forKey: .label),
            isGuided: try members.decodeIfPresent(Bool.self, forKey: .isGuided) ?? false
        )
    }
}
