// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import FoundationEssentials
internal import WhorlFingerprint

// The enrolled fingers of the profile, and changes to them.
//
// If a finger is enrolled or a passcode is set, a change requires the owner's consent. The service prompts for it
// before it does anything else.

extension Operations {
    static let ofFingers: [any ServiceOperation.Type] = [
        ListFingers.self, ReadEnrollmentState.self, CompareFingers.self, EnrollFinger.self,
        EnrollFingerFor.self,
        LabelFingers.self, RemoveFingers.self,
        ListAcceptableFingers.self, AcceptFingers.self, ReconcileReader.self, ExerciseReader.self,
    ]
}

/// Lists the enrolled fingers, without creating any state.
///
/// Errors: `enrollmentTampered`, `enrollmentRolledBack`, a storage error.
public struct ListFingers: ServiceOperation {
    public typealias Reply = Valued<[EnrolledFinger]>
    public static let name = "io.whorl.Fingers.List"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads the state of the enrolled fingers for a program; returns `nil` if no finger was ever enrolled.
///
/// Errors: those of ``ListFingers``.
public struct ReadEnrollmentState: ServiceOperation {
    public typealias Reply = Optionally<EnrollmentState>
    public static let name = "io.whorl.Fingers.State"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public let application: ApplicationID

    private enum CodingKeys: String, CodingKey { case application = "value" }

    public init(for application: ApplicationID) { self.application = application }
}

/// Compares the enrolled fingers with those that were enrolled when a program took a digest.
///
/// Errors: those of ``ListFingers``.
public struct CompareFingers: ServiceOperation {
    public typealias Reply = EnrollmentDifference
    public static let name = "io.whorl.Fingers.Difference"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    /// The ``EnrollmentState/digest`` of an earlier state, 32 bytes.
    public let digest: Data
    /// The program that took the digest.
    public let application: ApplicationID

    public init(since digest: Data, for application: ApplicationID) {
        self.digest = digest
        self.application = application
    }
}

/// Enrolls a finger on the chosen reader, and returns the finger as stored.
///
/// Errors: the reason why the owner did not consent; `fingerExists`, `duplicate`, `inconsistent`, `tooManyRetries`,
/// `timedOut`, `biometryLockout`, `changedMeanwhile`, a reader's error, a storage error and others.
public struct EnrollFinger: OwnerOperation {
    public typealias Reply = EnrolledFinger
    public static let name = "io.whorl.Fingers.Enroll"
    public static let rules = OperationRules(change: "enroll a finger", "fingerEnrolled", by: .unconfined)

    public let finger: NewFinger
    public var request: ConsentRequest

    public init(_ finger: NewFinger, _ request: ConsentRequest) {
        self.finger = finger
        self.request = request
    }

    public var purpose: String { "enroll the \(finger.finger.rawValue)" }
}

/// Enrolls the first finger of another user, who touches the reader, and returns the finger as stored.
///
/// Only the system service performs it, if the system's rules allow it (polkit's `io.whorl.enroll-others`). The user must
/// have no finger, no passcode and no item. Errors: `notPermitted`; `ownerNeeded` if the user has any of these; those of
/// ``EnrollFinger``.
public struct EnrollFingerFor: OwnerOperation, DescribedChange {
    public typealias Reply = EnrolledFinger
    public static let name = "io.whorl.Fingers.EnrollFor"
    public static let rules = OperationRules(
        change: "enroll a finger for another user",
        "fingerEnrolledFor",
        by: .unconfinedAtReader
    )

    /// The ID of the user whose finger is enrolled.
    public let user: UInt32
    public let finger: NewFinger
    public var request: ConsentRequest

    public init(_ user: UInt32, _ finger: NewFinger, _ request: ConsentRequest) {
        self.user = user
        self.finger = finger
        self.request = request
    }

    package var subject: String { "user \(user)" }
    public var purpose: String { "enroll the \(finger.finger.rawValue) of user \(user)" }
}

/// Changes the label of fingers, and returns these fingers.
///
/// A label is only displayed, so the owner is not prompted, and the set does not change. Errors: `noSuchFinger`, a
/// storage error.
public struct LabelFingers: ServiceOperation {
    public typealias Reply = Valued<[EnrolledFinger]>
    public static let name = "io.whorl.Fingers.Label"
    public static let rules = OperationRules(change: "label a finger", "fingerLabeled", by: .unconfined)

    /// One or several fingers; `all` does not name any.
    public let selection: FingerSelection
    /// The label, of which at most 100 characters are stored; `nil` removes it.
    public let label: String?

    public init(_ selection: FingerSelection, as label: String?) {
        self.selection = selection
        self.label = label
    }
}

/// Removes fingers, including those stored in readers, and returns the removed fingers.
///
/// The result is empty if all fingers were selected but none were enrolled. Errors: the reason why the owner did not
/// consent; `noSuchFinger`, `readerNotConnected`, a reader's error, a storage error and others.
public struct RemoveFingers: OwnerOperation {
    public typealias Reply = [EnrolledFinger]
    public static let name = "io.whorl.Fingers.Remove"
    public static let rules = OperationRules(change: "remove fingers", "fingersRemoved", by: .unconfined)

    public let selection: FingerSelection
    /// Whether a print may be removed even if the reader that stores it is not connected.
    public let force: Bool
    public var request: ConsentRequest

    public init(_ selection: FingerSelection, force: Bool, _ request: ConsentRequest) {
        self.selection = selection
        self.force = force
        self.request = request
    }

    public var purpose: String { "remove fingers" }
}

/// Lists the fingers that ``AcceptFingers`` would keep; returns `nil` if the set is valid.
///
/// Errors: a storage error.
public struct ListAcceptableFingers: ServiceOperation {
    public typealias Reply = Optionally<[EnrolledFinger]>
    public static let name = "io.whorl.Fingers.Acceptable"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Accepts the current fingers as genuine after they were tampered with or rolled back to an older state.
///
/// The owner must consent with the passcode. Returns the fingers that remain enrolled and those that were removed;
/// `nil` if the set is valid, in which case nothing is changed. Errors: the reason why the owner did not consent;
/// `changedMeanwhile` or a storage error.
public struct AcceptFingers: OwnerOperation {
    public typealias Reply = Optionally<AcceptedFingers>
    public static let name = "io.whorl.Fingers.Accept"
    public static let rules = OperationRules(
        change: "accept the fingers",
        "fingersAccepted",
        by: .unconfined
    )

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    /// Decodes the request from the members of the call itself.
    public init(from decoder: any Decoder) throws { request = try ConsentRequest(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try request.encode(to: encoder) }

    public var purpose: String { "accept the fingers" }
}

/// Completes interrupted enrollments and removals on the chosen reader, and compares its prints with those in the
/// store.
///
/// Returns `nil` if no state exists. Errors: the reason why no reader can be chosen; a reader's error, a storage error
/// and others.
public struct ReconcileReader: ServiceOperation {
    public typealias Reply = Optionally<ReaderReconciliation>
    public static let name = "io.whorl.Fingers.Reconcile"
    public static let rules = OperationRules(
        change: "compare the reader's prints",
        "readerReconciled",
        by: .unconfinedAtReader
    )

    public init() {}
}

/// Tests the operations that the chosen reader supports, using a print that is deleted at the end.
///
/// Returns the results of the steps that were started. Enrolled fingers are unchanged, except that
/// ``ReaderExercise/clearsStorage`` deletes all prints in the reader. If a finger is enrolled or a passcode is set, the
/// owner must consent.
///
/// Errors: the reason why the owner did not consent, or why no reader can be chosen; a reader's error if the test was
/// cancelled.
public struct ExerciseReader: OwnerOperation {
    public typealias Reply = [ReaderExercise.StepResult]
    public static let name = "io.whorl.Fingers.Exercise"
    public static let rules = OperationRules(
        change: "test the reader",
        "readerTested",
        by: .unconfinedAtReader
    )

    public let exercise: ReaderExercise
    public var request: ConsentRequest

    public init(_ exercise: ReaderExercise, _ request: ConsentRequest) {
        self.exercise = exercise
        self.request = request
    }

    public var purpose: String { "test the reader" }
}
