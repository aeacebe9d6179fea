// SPDX-License-Identifier: Apache-2.0

package import WhorlLibfprint
package import WhorlFingerprint

/// The work of a reader that its bus object forwards, after the claim and the client's rights were checked.
///
/// It runs on the GLib thread, like the device. The service uses ``EnrolledWork``. A test program uses fprintd's own
/// calls of libfprint, so that fprintd's tests exercise everything in front of the work (Docs/Fprintd.md).
package protocol DeviceWork: Actor {
    /// An enrollment or a verification, which sends its statuses; it is stopped by cancelling its task.
    typealias Scan = @Sendable (StatusReport) async -> Void
    /// A deletion; it throws an error for fingers that could not be deleted.
    typealias Deletion = @Sendable () async throws(FprintError) -> Void
    /// Returns whether the client may perform an additional action, about which someone may be asked.
    typealias Asking = @Sendable (FprintAction) async -> Bool

    /// The reader whose name and type clients see.
    nonisolated var reader: LibfprintReader { get }
    /// The number of touches in an enrollment.
    nonisolated var stages: Int { get }
    /// Whether the reader can do nothing else during a deletion.
    var isBusyWhileDeleting: Bool { get }

    /// Prepares the reader for the client that has claimed it.
    func open() async throws(FprintError)
    /// Releases the reader.
    func close() async throws(FprintError)
    /// Returns the fingers of a user that can be compared on this reader.
    func enrolledFingers(of user: String) async throws(FprintError) -> [Finger]
    /// Returns the fingers of a user that can be deleted, including those that cannot be compared.
    func deletableFingers(of user: String) async throws(FprintError) -> [Finger]

    /// Returns the enrollment of a finger, after getting any additional rights.
    ///
    /// - Parameters:
    ///   - finger: The finger.
    ///   - user: The user to whom the finger belongs.
    ///   - asking: Requests additional rights.
    ///   - begun: Called when the reader has started, or failed to.
    /// - Returns: The enrollment, which has not begun.
    /// - Throws: `PermissionDenied` if a right is missing.
    func enrollment(
        of finger: Finger,
        for user: String,
        _ asking: Asking,
        begun: @escaping @Sendable () -> Void
    ) async throws(FprintError) -> Scan

    /// Returns the comparison of a touch with a user's fingers, and the name of the finger to report.
    ///
    /// - Parameters:
    ///   - name: The name of a finger; any other name means all fingers.
    ///   - user: The user to whom the fingers belong.
    /// - Returns: The finger's name and the comparison, which has not begun.
    /// - Throws: `NoEnrolledPrints` if there is nothing to compare with.
    func verification(of name: String, for user: String) async throws(FprintError) -> (told: String, Scan)

    /// Returns the deletion of fingers, after getting any additional rights.
    ///
    /// - Parameters:
    ///   - fingers: The fingers.
    ///   - user: The user to whom the fingers belong.
    ///   - asking: Requests additional rights.
    ///   - isClaimed: Returns whether a client has the reader open.
    /// - Returns: The deletion, which has not begun.
    /// - Throws: `PermissionDenied` if a right is missing.
    func deletion(
        of fingers: [Finger],
        for user: String,
        _ asking: Asking,
        isClaimed: @escaping @Sendable () -> Bool
    ) async throws(FprintError) -> Deletion
}
