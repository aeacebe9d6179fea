// SPDX-License-Identifier: Apache-2.0
// An operation says what it is and does above its type; its members are described by their protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import FoundationEssentials
internal import WhorlFingerprint

// The enrolled fingers of the profile, and changes to them.
//
// Where a finger is enrolled or a passcode is set, a change needs the consent of the owner, for which the service asks
// before it asks for anything else.

extension Operations {
    static let ofFingers: [any ServiceOperation.Type] = [
        ListFingers.self, ReadEnrollmentState.self, CompareFingers.self, EnrollFinger.self,
        RemoveFingers.self,
        ListAcceptableFingers.self, AcceptFingers.self, ReconcileReader.self, ExerciseReader.self,
    ]
}

/// Lists the enrolled fingers; nothing is made if nothing was ever stored.
///
/// Errors: `enrollmentTampered`, `enrollmentRolledBack`, a storage error.
public struct ListFingers: ServiceOperation {
    public typealias Reply = Valued<[EnrolledFinger]>
    public static let name = "io.whorl.Fingers.List"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads the state of the enrolled fingers for a program; the answer is `nil` when none was ever enrolled.
///
/// Errors: as ``ListFingers``.
public struct ReadEnrollmentState: ServiceOperation {
    public typealias Reply = Optionally<EnrollmentState>
    public static let name = "io.whorl.Fingers.State"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public let application: ApplicationID

    private enum CodingKeys: String, CodingKey { case application = "value" }

    public init(for application: ApplicationID) { self.application = application }
}

/// Compares the enrolled fingers with those of the time when a program took a digest.
///
/// Errors: as ``ListFingers``.
public struct CompareFingers: ServiceOperation {
    public typealias Reply = EnrollmentDifference
    public static let name = "io.whorl.Fingers.Difference"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    /// The ``EnrollmentState/digest`` of an earlier state, 32 bytes.
    public let digest: Data
    /// The program that took it.
    public let application: ApplicationID

    public init(since digest: Data, for application: ApplicationID) {
        self.digest = digest
        self.application = application
    }
}

/// Enrolls a finger on the chosen reader, and answers with the finger as it was stored.
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

/// Removes fingers, from their readers too, and answers with them: none if all were selected and none was enrolled.
///
/// Errors: the reason why the owner did not consent; `noSuchFinger`, `readerNotConnected`, a reader's error, a storage
/// error and others.
public struct RemoveFingers: OwnerOperation {
    public typealias Reply = [EnrolledFinger]
    public static let name = "io.whorl.Fingers.Remove"
    public static let rules = OperationRules(change: "remove fingers", "fingersRemoved", by: .unconfined)

    public let selection: FingerSelection
    /// Whether a print may be removed although the reader that keeps it is not connected.
    public let force: Bool
    public var request: ConsentRequest

    public init(_ selection: FingerSelection, force: Bool, _ request: ConsentRequest) {
        self.selection = selection
        self.force = force
        self.request = request
    }

    public var purpose: String { "remove fingers" }
}

/// Lists the fingers that ``AcceptFingers`` would keep; the answer is `nil` if the set is sound.
///
/// Errors: a storage error.
public struct ListAcceptableFingers: ServiceOperation {
    public typealias Reply = Optionally<[EnrolledFinger]>
    public static let name = "io.whorl.Fingers.Acceptable"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Accepts the present fingers as genuine, after they were changed from outside or an older state was put back.
///
/// Only the passcode gives consent here. The answer has the fingers that count from now on; `nil` if the set is sound, and
/// nothing is changed. Errors: the reason why the owner did not consent; `changedMeanwhile` or a storage error.
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

    /// Reads the request, whose members stand in the call itself.
    public init(from decoder: any Decoder) throws { request = try ConsentRequest(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try request.encode(to: encoder) }

    public var purpose: String { "accept the fingers" }
}

/// Finishes interrupted enrollments and removals at the chosen reader, and compares the reader's own storage with the
/// enrolled fingers; the answer is `nil` if nothing was ever stored.
///
/// Errors: the reason why no reader can be chosen; a reader's error, a storage error and others.
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

/// Tries what the chosen reader supports, with a print that is deleted at the end; the answer has the result of each step
/// that was begun.
///
/// Enrolled fingers stay as they are, except that ``ReaderExercise/clearsStorage`` deletes what the reader keeps. The owner
/// is asked where a finger is enrolled or a passcode is set. Errors: the reason why the owner did not consent, or why no
/// reader can be chosen; a reader's error for a trial that was cancelled.
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
