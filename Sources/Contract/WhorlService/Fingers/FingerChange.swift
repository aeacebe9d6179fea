// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// A change to the enrolled fingers that requires the owner's consent.
public enum FingerChange: Sendable, Hashable {
    /// Enrolling the given finger.
    case add(Finger)
    /// Removing the selected fingers.
    case remove(FingerSelection)
    /// Accepting fingers as genuine after they were tampered with or rolled back to an older state.
    case accept
}

/// A selection of fingers to remove.
public enum FingerSelection: Sendable, Hashable, Codable {
    /// One print.
    case print(PrintID)
    /// The prints of a finger on one reader; `nil` means every reader.
    case finger(Finger, on: ReaderID?)
    /// All prints of the profile; this also works for a set that was tampered with, and makes it valid again.
    case all

    private enum PrintCodingKeys: String, CodingKey { case _0 = "id" }

    private enum FingerCodingKeys: String, CodingKey {
        case _0 = "finger"
        case on = "reader"
    }
}

/// An enrollment event, for prompts and progress bars.
public enum EnrollmentProgress: Sendable, Hashable, Codable {
    /// The owner has consented, and the reader is starting.
    case began(ReaderInfo)
    /// An event from the reader.
    case scan(ScanEvent)
    /// The scans are complete; one more touch confirms the print, with this number of attempts left.
    case confirming(triesLeft: Int)
    /// In a guided enrollment: the part of the finger to show in the next scans.
    case area(FingerArea)
    /// In a guided enrollment: too many scans showed the same part of the finger, so all scans are repeated once.
    case again
    /// In a guided enrollment: the finger is stored, and `recognized` of `tested` test touches matched, out of `total`.
    case tested(recognized: Int, tested: Int, total: Int)
    /// A step of a reader test begins.
    case exercising(ReaderExercise.Step)

    private enum BeganCodingKeys: String, CodingKey { case _0 = "reader" }
    private enum ScanCodingKeys: String, CodingKey { case _0 = "event" }
    private enum AreaCodingKeys: String, CodingKey { case _0 = "area" }
    private enum ExercisingCodingKeys: String, CodingKey { case _0 = "step" }
}

/// The result of accepting fingers that were tampered with or rolled back to an older state.
public struct AcceptedFingers: Sendable, Codable {
    /// The fingers that remain enrolled.
    public let kept: [EnrolledFinger]
    /// The fingers that were removed because their prints can no longer be compared.
    public let removed: [EnrolledFinger]

    package init(kept: [EnrolledFinger], removed: [EnrolledFinger]) {
        self.kept = kept
        self.removed = removed
    }
}

/// The result of comparing the prints in a reader with those in the store.
public struct ReaderReconciliation: Sendable, Codable {
    /// The number of prints from interrupted enrollments and removals that were deleted from the reader.
    public let finished: Int
    /// The metadata of prints that are in the reader but not in the store, such as those of another system.
    ///
    /// Such prints are never deleted.
    public let strays: [EnrollmentMetadata]
    /// The profile's fingers whose prints are missing from the reader.
    public let missing: [EnrolledFinger]
    /// Whether the reader could list its prints; if `false`, `strays` and `missing` are meaningless.
    public let isListed: Bool

    package init(finished: Int, strays: [EnrollmentMetadata], missing: [EnrolledFinger], isListed: Bool) {
        self.finished = finished
        self.strays = strays
        self.missing = missing
        self.isListed = isListed
    }
}

/// A request for the owner's consent to a change to the enrolled fingers.
public struct ConsentRequest: Sendable {
    /// The program that makes the request.
    public var application: ApplicationID
    /// The time limit for each touch, key press or verdict.
    public var timeout: Duration
    /// Whether only the passcode is accepted, for programs that already have it.
    public var passcodeAlone: Bool

    /// Information about the calling program, which a service adds.
    public var origin = RequestOrigin()

    /// Called if the owner cannot be identified yet; throws if the system's rules do not allow the change.
    ///
    /// It is `nil` if the engine runs in the calling program, where no such rules apply.
    package var allowsFirst: (@Sendable () async throws(ServiceError) -> Void)?

    /// Creates a request that accepts a finger or the passcode.
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

/// A print that another program, such as fprintd, created and stored.
package struct ForeignPrint: Sendable, Hashable {
    /// The finger, according to the print's path.
    package let finger: Finger
    /// The driver of its reader, according to the print's path.
    package let driver: String
    /// The device number that the driver assigned to the reader, according to the print's path.
    package let number: String
    /// The print, in libfprint's own format.
    package let template: Template

    package init(finger: Finger, driver: String, number: String, template: Template) {
        self.finger = finger
        self.driver = driver
        self.number = number
        self.template = template
    }
}

/// The result of importing a print.
package enum ImportOutcome: String, Sendable, Codable, CaseIterable {
    /// The print was enrolled, or would have been if this were not a dry run.
    case taken = "taken"
    /// The data is not a print.
    case unreadable = "unreadable"
    /// The print belongs to a different finger, user or reader than its path indicates.
    case elsewhere = "elsewhere"
    /// The print belongs to a virtual reader, which the service does not accept.
    case pretended = "pretended"
    /// The print is stored in the reader, and the administrator has not confirmed that no other program could open the
    /// reader.
    case unvouched = "unvouched"
}
