// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import WhorlFingerprint

/// The enrolled fingers of the profile, and changes to them.
///
/// Where a finger is enrolled or a passcode is set, a change needs the consent of the owner, for which the service asks
/// on the presenter before it asks for anything else.
public protocol FingerService: Sendable {
    /// Returns the enrolled fingers; nothing is made if nothing was ever stored.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack`, a storage error.
    func fingers() async throws(ServiceError) -> [EnrolledFinger]

    /// Returns the state of the enrolled fingers for a program; `nil` when none was ever enrolled.
    ///
    /// - Throws: as ``fingers()``.
    func state(for application: ApplicationID) async throws(ServiceError) -> EnrollmentState?

    /// Returns the changes of the enrolled fingers since a program took a digest.
    ///
    /// - Parameters:
    ///   - digest: The ``EnrollmentState/digest`` of an earlier state, 32 bytes.
    ///   - application: The program that took it.
    /// - Returns: The difference from the present state.
    /// - Throws: as ``fingers()``.
    func difference(
        since digest: Data,
        for application: ApplicationID
    ) async throws(ServiceError) -> EnrollmentDifference

    /// Enrolls a finger on the chosen reader.
    ///
    /// - Parameters:
    ///   - finger: The finger's name, and its owner's words for it.
    ///   - request: The way in which the owner is asked for consent.
    ///   - presenter: Shows the prompt for consent.
    ///   - observer: Called for each event of the enrollment, on a thread of the service.
    /// - Returns: The finger as it was stored on disk.
    /// - Throws: the reason why the owner did not consent; `fingerExists`, `duplicate`, `inconsistent`,
    ///   `tooManyRetries`, `timedOut`, `biometryLockout`, `changedMeanwhile`, a reader's error, a storage error and others.
    func enroll(
        _ finger: NewFinger,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger

    /// Removes fingers, from their readers too.
    ///
    /// - Parameters:
    ///   - selection: The fingers to remove.
    ///   - force: Whether a print may be removed although the reader that keeps it is not connected.
    ///   - request: The way in which the owner is asked for consent.
    ///   - presenter: Shows the prompt for consent.
    /// - Returns: The removed fingers; empty if all were selected and none was enrolled.
    /// - Throws: the reason why the owner did not consent; `noSuchFinger`, `readerNotConnected`, a reader's error,
    ///   a storage error and others.
    func remove(
        _ selection: FingerSelection,
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> [EnrolledFinger]

    /// Returns the fingers that ``accept(_:presenter:)`` would keep; `nil` if the set is sound, so that there is nothing
    /// to accept.
    ///
    /// - Throws: a storage error.
    func acceptable() async throws(ServiceError) -> [EnrolledFinger]?

    /// Accepts the present fingers as genuine, after they were changed from outside or an older state was put back.
    ///
    /// - Parameters:
    ///   - request: The way in which the owner is asked for consent, which only the passcode gives here.
    ///   - presenter: Shows the prompt for consent.
    /// - Returns: The fingers that count from now on; `nil` if the set is sound, and nothing is changed.
    /// - Throws: the reason why the owner did not consent; `changedMeanwhile` or a storage error.
    func accept(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> AcceptedFingers?

    /// Finishes interrupted enrollments and removals at the chosen reader, and compares the reader's own storage with
    /// the enrolled fingers.
    ///
    /// - Returns: The differences; `nil` if nothing was ever stored.
    /// - Throws: the reason why no reader can be chosen; a reader's error, a storage error and others.
    func reconcile() async throws(ServiceError) -> ReaderReconciliation?

    /// Tries what the chosen reader supports, with a print that is deleted at the end.
    ///
    /// Enrolled fingers stay as they are, except that ``ReaderExercise/clearsStorage`` deletes what the reader keeps.
    ///
    /// - Parameters:
    ///   - exercise: The steps.
    ///   - request: The way in which the owner is asked for consent, where a finger is enrolled or a passcode is set.
    ///   - presenter: Shows the prompt for consent.
    ///   - observer: Called for each event of the trial, on a thread of the service.
    /// - Returns: The result of each step that was begun.
    /// - Throws: the reason why the owner did not consent, or why no reader can be chosen; a reader's error for a trial
    ///   that was cancelled.
    func exercise(
        _ exercise: ReaderExercise,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> [ReaderExercise.StepResult]
}

/// A finger that is to be enrolled.
public struct NewFinger: Sendable, Hashable, Codable {
    /// The name of the finger.
    public var finger: Finger
    /// The owner's own words for it, of which at most 100 characters are kept; `nil` for none.
    public var label: String?
    /// Whether the enrollment asks for other parts of the finger in turn, repeats itself once where the presses were too
    /// much alike, and ends with test touches, which change nothing.
    public var isGuided: Bool

    /// Makes a description.
    public init(_ finger: Finger, label: String? = nil, isGuided: Bool = false) {
        self.finger = finger
        self.label = label
        self.isGuided = isGuided
    }

    private enum CodingKeys: String, CodingKey {
        case finger = "finger"
        case label = "label"
        case isGuided = "isGuided"
    }

    /// Reads a description; programs of an earlier version ask for no guidance.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(Finger.self, forKey: .finger),
            label: try members.decodeIfPresent(String.self, forKey: .label),
            isGuided: try members.decodeIfPresent(Bool.self, forKey: .isGuided) ?? false
        )
    }
}

/// The connected readers.
public protocol ReaderService: Sendable {
    /// Returns all readers that are connected and may be used.
    func readers() async throws(ServiceError) -> [any FingerprintReader]

    /// Returns the chosen reader.
    ///
    /// - Throws: `biometryNotAvailable` when none is connected; `readerNotChosen` when several are connected and none
    ///   is named, or the named one is not among them.
    func chosenReader() async throws(ServiceError) -> any FingerprintReader

    /// The reason why readers cannot be locked for one program of this user at a time; `nil` when each can.
    var readerLockTrouble: ReaderError? { get }

    /// Returns a stream with an event for each reader that comes or goes, until the stream's task ends.
    func readerEvents() async -> AsyncStream<Void>
}
