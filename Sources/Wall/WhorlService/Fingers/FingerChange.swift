// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

/// A change of the enrolled fingers that the owner is asked to agree to.
public enum FingerChange: Sendable, Hashable {
    /// Enrolling this finger.
    case add(Finger)
    /// Removing these fingers.
    case remove(FingerSelection)
    /// Accepting fingers that were changed from outside, or are of an older state, as genuine.
    case accept
}

/// A selection of fingers to remove.
public enum FingerSelection: Sendable, Hashable {
    /// One print.
    case print(PrintID)
    /// The prints of a finger on one reader; `nil` means on every reader.
    case finger(Finger, on: ReaderID?)
    /// All prints of the profile. This works on a set that was changed from outside, too, and makes it sound again.
    case all
}

/// An event of an enrollment, for prompts and progress bars.
public enum EnrollmentProgress: Sendable, Hashable {
    /// The owner has agreed, and the reader is asked from now on.
    case began(ReaderInfo)
    /// An event of the reader.
    case scan(ScanEvent)
    /// The presentations are done; one more touch confirms the print, with this number of tries left.
    case confirming(triesLeft: Int)
}

/// The result of accepting fingers that were changed from outside or are of an older state.
public struct AcceptedFingers: Sendable {
    /// The fingers that are enrolled from now on.
    public let kept: [EnrolledFinger]
    /// The fingers that were removed because their prints can no longer be compared.
    public let removed: [EnrolledFinger]

    package init(kept: [EnrolledFinger], removed: [EnrolledFinger]) {
        self.kept = kept
        self.removed = removed
    }
}

/// The result of comparing the prints that a reader keeps with the store.
public struct ReaderReconciliation: Sendable {
    /// The number of prints of interrupted enrollments and removals that were deleted from the reader.
    public let finished: Int
    /// Prints in the reader that the store does not know, such as another system's.
    ///
    /// They are never deleted.
    public let strays: [StoredPrint]
    /// Fingers of the profile whose print the reader no longer holds.
    public let missing: [EnrolledFinger]
    /// Whether the reader could list its prints; when not, `strays` and `missing` say nothing.
    public let isListed: Bool

    package init(finished: Int, strays: [StoredPrint], missing: [EnrolledFinger], isListed: Bool) {
        self.finished = finished
        self.strays = strays
        self.missing = missing
        self.isListed = isListed
    }
}
