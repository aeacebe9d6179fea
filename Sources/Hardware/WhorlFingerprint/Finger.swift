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
        let wanted = Finger.normalized(name)
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
        let typed = Array(normalized(String(name.prefix(64))))
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

    private static func normalized(_ name: String) -> String {
        String(name.lowercased().map { $0 == " " || $0 == "_" ? "-" : $0 })
    }
}

/// A part of the fingertip that a press can show to a small sensor.
///
/// A sensor that sees a part of the finger recognizes only the parts that were enrolled: presses that show different
/// parts make a better template than as many presses of one.
public enum FingerArea: String, Sendable, Hashable, CaseIterable, Codable {
    /// The middle of the fingertip.
    case center = "center"
    /// The part toward the nail.
    case tip = "tip"
    /// The side that is on the left while the finger lies on the reader.
    case left = "left"
    /// The side that is on the right while the finger lies on the reader.
    case right = "right"
    /// The part toward the joint.
    case base = "base"

    /// Returns the area to show in a presentation, counted from 0: one after the other, then from the beginning.
    public static func area(ofPresentation index: Int) -> FingerArea {
        allCases[max(0, index) % allCases.count]
    }

    /// The instruction for the person.
    public var instruction: String {
        switch self {
        case .center: "Touch with the middle of your fingertip."
        case .tip: "Touch with the tip of your finger."
        case .left: "Touch with the left side of your fingertip."
        case .right: "Touch with the right side of your fingertip."
        case .base: "Touch with the lower part of your fingertip."
        }
    }

    /// The hint for a person who showed the same area twice.
    public static let alikeHint = "Same part of the finger. Move it a little."
}

/// Returns the number of characters that must be inserted, deleted or replaced to make one text of another.
///
/// It is Levenshtein's distance, computed with one row of memory.
package func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, y) in b.enumerated() {
            let substitution = diagonal + (x == y ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(substitution, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}
