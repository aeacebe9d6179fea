// SPDX-License-Identifier: Apache-2.0

/// The quality of a press on the reader.
///
/// What is said of matching was measured with libfprint 1.94.5, after an enrollment of five normal presses (see
/// `Bench/matcher`).
public enum PressQuality: String, Sendable, CaseIterable {
    /// Straight, in the middle, dry and clean, as people press when they are told to: it matches.
    case careful

    /// Off by up to 15 pixels and 8°, a little stretched, unevenly pressed: it matches.
    case normal

    /// Off by up to 25 pixels and 15°, stretched twice as much, noisy, smaller: it matches with less to spare.
    case hard

    /// A fingertip's edge alone: the scan succeeds, but too few ridge ends are seen for a match.
    case partial

    /// No finger on the glass: libfprint asks for another try (`FP_DEVICE_RETRY_GENERAL`).
    case blank
}
