// SPDX-License-Identifier: Apache-2.0

package import WhorlLibfprint
package import WhorlFingerprint

/// The work that a reader's bus object forwards after checking the claim and the client's rights.
///
/// Like the device, it runs on the GLib thread. The service uses ``EnrolledWork``. A test program makes the same calls
/// to libfprint as fprintd, so that fprintd's tests cover everything up to this work (Docs/Fprintd.md).
package protocol DeviceWork: Actor {
    /// An enrollment or a verification, which sends its statuses. Cancelling its task stops it.
    typealias Scan = @Sendable (StatusReport) async -> Void
    /// A deletion, which throws an error if fingers could not be deleted.
    typealias Deletion = @Sendable () async throws(FprintError) -> Void
    /// Returns whether the client may perform an additional action; a dialog may ask for a password.
    typealias Asking = @Sendable (FprintAction) async -> Bool

    /// The reader, whose name and type are visible to clients.
    nonisolated var reader: LibfprintReader { get }
    /// The number of touches in an enrollment.
    nonisolated var stages: Int { get }
    /// Whether the reader cannot do anything else during a deletion.
    var isBusyWhileDeleting: Bool { get }

    /// Prepares the reader for the client that has claimed it.
    func open() async throws(FprintError)
    /// Releases the reader.
    func close() async throws(FprintError)
    /// Returns the user's fingers that can be compared on this reader.
    func enrolledFingers(of user: String) async throws(FprintError) -> [Finger]
    /// Returns the user's fingers that can be deleted, including those that cannot be compared.
    func deletableFingers(of user: String) async throws(FprintError) -> [Finger]

    /// Returns the enrollment of a finger, after requesting any additional rights.
    ///
    /// - Parameters:
    ///   - finger: The finger.
    ///   - user: The user to whom the finger belongs.
    ///   - isOthers: Whether the client runs as another user.
    ///   - asking: Requests additional rights.
    ///   - begun: Called when the reader has started or failed to start.
    /// - Returns: The enrollment, which has not begun.
    /// - Throws: `PermissionDenied` if a right is missing.
    func enrollment(
        of finger: Finger,
        for user: String,
        isOthers: Bool,
        _ asking: Asking,
        begun: @escaping @Sendable () -> Void
    ) async throws(FprintError) -> Scan

    /// Returns a verification that compares a touch with a user's fingers, and the name of the finger to report.
    ///
    /// - Parameters:
    ///   - name: The name of a finger; any other text means all fingers.
    ///   - user: The user to whom the fingers belong.
    /// - Returns: The finger's name and the verification, which has not begun.
    /// - Throws: `NoEnrolledPrints` if there are no prints to compare with.
    func verification(of name: String, for user: String) async throws(FprintError) -> (told: String, Scan)

    /// Returns the deletion of fingers, after requesting any additional rights.
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
