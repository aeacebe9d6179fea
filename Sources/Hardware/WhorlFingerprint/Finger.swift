// SPDX-License-Identifier: Apache-2.0

/// One of the ten fingers of a person.
///
/// The raw values are the names that fprintd uses, and that the command line and the JSON output use. A finger
/// says which finger somebody *claims* to have enrolled; no reader can check that.
public enum Finger: String, CaseIterable, Sendable, Hashable, Codable {
    /// The left thumb.
    case leftThumb = "left-thumb"
    /// The left index finger.
    case leftIndex = "left-index-finger"
    /// The left middle finger.
    case leftMiddle = "left-middle-finger"
    /// The left ring finger.
    case leftRing = "left-ring-finger"
    /// The left little finger.
    case leftLittle = "left-little-finger"
    /// The right thumb.
    case rightThumb = "right-thumb"
    /// The right index finger.
    case rightIndex = "right-index-finger"
    /// The right middle finger.
    case rightMiddle = "right-middle-finger"
    /// The right ring finger.
    case rightRing = "right-ring-finger"
    /// The right little finger.
    case rightLittle = "right-little-finger"

    /// The finger that a person means by `name`: the full name, or the same without `-finger`.
    ///
    /// Upper and lower case are alike, and a space or underscore stands for a hyphen. Anything else is `nil`;
    /// ``nearest(to:)`` then has a suggestion.
    public init?(name: String) {
        let wanted = Finger.normalised(name)
        guard let finger = Finger.allCases.first(where: { $0.rawValue == wanted || $0.shortName == wanted })
        else { return nil }
        self = finger
    }

    /// The name without `-finger`: `right-index`.
    public var shortName: String {
        rawValue.hasSuffix("-finger") ? String(rawValue.dropLast("-finger".count)) : rawValue
    }

    /// The name as a sentence has it: `right index finger`.
    public var spokenName: String {
        String(rawValue.map { $0 == "-" ? " " : $0 })
    }

    /// The number that encodes this finger in stored data: 1 (left thumb) to 10 (right little finger).
    ///
    /// The corresponding C constants are `FP_FINGER_LEFT_THUMB` (1) to `FP_FINGER_RIGHT_LITTLE` (10).
    public var number: UInt8 {
        UInt8((Finger.allCases.firstIndex(of: self) ?? 0) + 1)
    }

    /// The finger whose name is nearest to a mistyped one, by edit distance; `nil` when none is near.
    ///
    /// - Parameter name: What was typed; only its first 64 characters count.
    /// - Returns: The finger, or `nil`.
    public static func nearest(to name: String) -> Finger? {
        let typed = Array(normalised(String(name.prefix(64))))
        let candidates = allCases.map { finger in
            (
                finger: finger,
                distance: min(
                    editDistance(typed, Array(finger.rawValue)),
                    editDistance(typed, Array(finger.shortName))
                )
            )
        }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(2, typed.count / 2) ? best.finger : nil
    }

    private static func normalised(_ name: String) -> String {
        String(name.lowercased().map { $0 == " " || $0 == "_" ? "-" : $0 })
    }
}
