// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

/// What happens in an enrollment, for prompts and progress bars.
public enum EnrollmentProgress: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The presentations are done; one more touch confirms the print, and so many tries remain.
    case confirming(triesLeft: Int)
}

/// Which fingers to remove.
public enum FingerSelection: Sendable, Hashable {
    /// One print.
    case print(PrintID)
    /// All prints of a finger; `nil` means on every reader.
    case finger(Finger, on: ReaderID?)
    /// All prints of the profile. This works on a changed-from-outside set too.
    case all
}

/// What a reader keeps in itself, compared with the store.
public struct ReaderReconciliation: Sendable {
    /// How many prints of interrupted enrollments and removals were deleted from the reader.
    public let finished: Int
    /// Prints in the reader that the store does not know, such as another system's. They are never deleted.
    public let strays: [StoredPrint]
    /// Fingers of the profile whose print is gone from the reader.
    public let missing: [EnrolledFinger]
    /// Whether the reader could list its prints; when not, nothing was compared.
    public let isListed: Bool
}

/// Enrolls and removes fingers: what the reader does and what the store keeps, in step.
public struct FingerEnroller: Sendable {
    let store: EnrollmentStore

    /// Works on a store.
    public init(store: EnrollmentStore) { self.store = store }

    /// Enrolls one finger; the reader is opened before and closed after.
    public func enroll(
        _ finger: Finger,
        label: String? = nil,
        profile: String,
        on reader: any FingerprintReader,
        timeout: Duration = .seconds(60),
        allowingSameFinger: Bool = false,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(EnrollmentError) -> EnrolledFinger { fatalError() }

    /// Removes fingers, from their readers too.
    public func remove(
        _ selection: FingerSelection,
        profile: String,
        readers: [any FingerprintReader],
        force: Bool = false
    ) async throws(EnrollmentError) -> [EnrolledFinger] { fatalError() }

    /// Finishes what was interrupted, and compares a reader's own storage with the store.
    public func reconcile(
        profile: String,
        on reader: any FingerprintReader
    ) async throws(EnrollmentError) -> ReaderReconciliation { fatalError() }
}
