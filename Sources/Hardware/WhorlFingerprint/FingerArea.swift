// SPDX-License-Identifier: Apache-2.0

/// A part of the fingertip that a press can show to a small sensor.
///
/// A sensor that sees a part of the finger recognises only the parts that were enrolled: presses that show different
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
        case .center: "Touch the reader with the middle of the fingertip."
        case .tip: "Touch the reader with the tip of the finger."
        case .left: "Touch the reader with the left side of the fingertip."
        case .right: "Touch the reader with the right side of the fingertip."
        case .base: "Touch the reader with the lower part of the fingertip."
        }
    }

    /// The hint for a person who showed the same area twice.
    public static let alikeHint = "That was the same part of the finger again."
}
