// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// A finger to enroll.
public struct NewFinger: Sendable, Hashable, Codable {
    /// The name of the finger.
    public var finger: Finger
    /// A label that the owner chooses, of which the first 100 characters are stored; `nil` for no label.
    public var label: String?
    /// Whether the enrollment is guided.
    ///
    /// A guided enrollment prompts for different parts of the finger in turn, and starts over once if the scans were
    /// too similar. It ends with test touches, which do not change anything.
    public var isGuided: Bool

    /// Creates a description of a finger to enroll.
    public init(_ finger: Finger, label: String? = nil, isGuided: Bool = false) {
        self.finger = finger
        self.label = label
        self.isGuided = isGuided
    }

    /// Decodes a description; programs of an earlier version do not request a guided enrollment.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(Finger.self, forKey: .finger),
            label: try members.decodeIfPresent(String.self, forKey: .label),
            isGuided: try members.decodeIfPresent(Bool.self, forKey: .isGuided) ?? false
        )
    }
}
