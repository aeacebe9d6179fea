// SPDX-License-Identifier: Apache-2.0

/// One of a person's ten fingers.
///
/// The raw values are the names used by fprintd, the command line and the JSON output. A finger is the one that the
/// user *claims* to have enrolled, which no reader can verify.
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

    /// Creates a finger from its name, with or without `-finger`.
    ///
    /// Case is ignored, and spaces and underscores count as hyphens. Returns `nil` for any other name, for which
    /// ``nearest(to:)`` can suggest a finger.
    public init?(name: String) {
        let wanted = Finger.normalized(name)
        guard let finger = Finger.allCases.first(where: { $0.rawValue == wanted || $0.shortName == wanted })
        else { return nil }
        self = finger
    }

    /// The name without `-finger`, such as `right-index`.
    public var shortName: String {
        rawValue.hasSuffix("-finger") ? String(rawValue.dropLast("-finger".count)) : rawValue
    }

    /// The name as used in a sentence, such as `right index finger`.
    public var spokenName: String {
        String(rawValue.map { $0 == "-" ? " " : $0 })
    }

    /// The number of this finger in stored data: 1 (left thumb) to 10 (right little finger).
    ///
    /// The corresponding C constants are `FP_FINGER_LEFT_THUMB` (1) to `FP_FINGER_RIGHT_LITTLE` (10).
    public var number: UInt8 {
        UInt8((Finger.allCases.firstIndex(of: self) ?? 0) + 1)
    }

    /// Returns the finger whose name is closest to a mistyped one, by edit distance.
    ///
    /// - Parameter name: The mistyped name, of which only the first 64 characters count.
    /// - Returns: The finger, or `nil` if no name is close.
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

/// A part of the fingertip to place on a small sensor.
///
/// A small sensor sees only part of the finger, and recognizes only the parts that were enrolled. Presses of different
/// parts make a better template than the same number of presses of one part.
public enum FingerArea: String, Sendable, Hashable, CaseIterable, Codable {
    /// The middle of the fingertip.
    case center = "center"
    /// The part toward the nail.
    case tip = "tip"
    /// The side that is on the left while the finger is on the reader.
    case left = "left"
    /// The side that is on the right while the finger is on the reader.
    case right = "right"
    /// The part toward the joint.
    case base = "base"

    /// Returns the area to show in the presentation with the given number, counted from 0.
    ///
    /// The areas repeat after the last one.
    public static func area(ofPresentation index: Int) -> FingerArea {
        allCases[max(0, index) % allCases.count]
    }

    /// The instruction shown to the user.
    public var instruction: String {
        switch self {
        case .center: "Touch with the middle of your fingertip."
        case .tip: "Touch with the tip of your finger."
        case .left: "Touch with the left side of your fingertip."
        case .right: "Touch with the right side of your fingertip."
        case .base: "Touch with the lower part of your fingertip."
        }
    }

    /// The hint for a user who presented the same area twice.
    public static let alikeHint = "Same part of the finger. Move it a little."
}

/// Returns the number of characters to insert, delete or replace to turn one text into the other.
///
/// This is the Levenshtein distance, computed with one row of memory.
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
