// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

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
public enum FingerSelection: Sendable, Hashable, Codable {
    /// One print.
    case print(PrintID)
    /// The prints of a finger on one reader; `nil` means on every reader.
    case finger(Finger, on: ReaderID?)
    /// All prints of the profile. This works on a set that was changed from outside, too, and makes it sound again.
    case all

    private enum PrintCodingKeys: String, CodingKey { case _0 = "id" }

    private enum FingerCodingKeys: String, CodingKey {
        case _0 = "finger"
        case on = "reader"
    }
}

/// An event of an enrollment, for prompts and progress bars.
public enum EnrollmentProgress: Sendable, Hashable, Codable {
    /// The owner has agreed, and the reader is asked from now on.
    case began(ReaderInfo)
    /// An event of the reader.
    case scan(ScanEvent)
    /// The presentations are done; one more touch confirms the print, with this number of tries left.
    case confirming(triesLeft: Int)
    /// With guidance: the next presentations are to show this part of the finger.
    case area(FingerArea)
    /// With guidance: too many presentations showed the same part of the finger, and all are asked for once more.
    case again
    /// With guidance: the finger is stored, and `recognized` of `tested` test touches were recognized, of `total`.
    case tested(recognized: Int, tested: Int, total: Int)
    /// A step of a trial of the reader begins.
    case exercising(ReaderExercise.Step)

    private enum BeganCodingKeys: String, CodingKey { case _0 = "reader" }
    private enum ScanCodingKeys: String, CodingKey { case _0 = "event" }
    private enum AreaCodingKeys: String, CodingKey { case _0 = "area" }
    private enum ExercisingCodingKeys: String, CodingKey { case _0 = "step" }
}

/// The result of accepting fingers that were changed from outside or are of an older state.
public struct AcceptedFingers: Sendable, Codable {
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
public struct ReaderReconciliation: Sendable, Codable {
    /// The number of prints of interrupted enrollments and removals that were deleted from the reader.
    public let finished: Int
    /// The data of prints in the reader that the store does not know, such as another system's.
    ///
    /// They are never deleted.
    public let strays: [EnrollmentMetadata]
    /// Fingers of the profile whose print the reader no longer holds.
    public let missing: [EnrolledFinger]
    /// Whether the reader could list its prints; when not, `strays` and `missing` say nothing.
    public let isListed: Bool

    package init(finished: Int, strays: [EnrollmentMetadata], missing: [EnrolledFinger], isListed: Bool) {
        self.finished = finished
        self.strays = strays
        self.missing = missing
        self.isListed = isListed
    }
}

/// A request for the owner's consent to a change of the enrolled fingers.
public struct ConsentRequest: Sendable {
    /// The program that asks.
    public var application: ApplicationID
    /// The time limit for each touch, key or verdict.
    public var timeout: Duration
    /// Whether only the passcode is asked for, as by programs that have it already.
    public var passcodeAlone: Bool

    /// The facts about the program that asks, which a service adds.
    public var origin = RequestOrigin()

    /// Asks the system's rules where nothing says yet who the owner is, and throws where they do not allow the change;
    /// `nil` where the engine runs in the asking program, which has no rules.
    package var allowsFirst: (@Sendable () async throws(ServiceError) -> Void)?

    /// Makes a request that takes a finger or the passcode.
    public init(
        application: ApplicationID,
        timeout: Duration = .seconds(60),
        passcodeAlone: Bool = false
    ) {
        self.application = application
        self.timeout = timeout
        self.passcodeAlone = passcodeAlone
    }
}

/// A print that another program, such as fprintd, has made and kept.
package struct ForeignPrint: Sendable, Hashable {
    /// The finger, by the print's place.
    package let finger: Finger
    /// The driver of its reader, by the print's place.
    package let driver: String
    /// The number that the driver gives the reader, by the print's place.
    package let number: String
    /// The print, in libfprint's own form.
    package let template: Template

    package init(finger: Finger, driver: String, number: String, template: Template) {
        self.finger = finger
        self.driver = driver
        self.number = number
        self.template = template
    }
}

/// The outcome for a print that was to be taken over.
package enum ImportOutcome: String, Sendable, Codable, CaseIterable {
    /// It is enrolled from now on; in a trial, it would be.
    case taken = "taken"
    /// The bytes are no print.
    case unreadable = "unreadable"
    /// The print is of another finger, user or reader than its place says.
    case elsewhere = "elsewhere"
    /// The print is of a virtual reader, and the service takes none.
    case pretended = "pretended"
    /// The reader keeps the print, and the administrator does not vouch that no other program could open the reader.
    case unvouched = "unvouched"
}
