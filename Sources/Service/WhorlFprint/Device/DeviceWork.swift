// SPDX-License-Identifier: Apache-2.0

package import WhorlLibfprint
package import WhorlFingerprint

/// The work of a reader behind its place on the bus: it does what a client may ask for, once the claim and the client's
/// rights are looked at.
///
/// It lives on the GLib thread, as the device does. The service has ``EnrolledWork``. A program of the tests has fprintd's
/// own calls of libfprint, so that fprintd's tests run against everything in front of the work (Docs/Fprintd.md).
package protocol DeviceWork: Actor {
    /// An enrollment or a verification, which sends its statuses; the task that runs it is cancelled to end it.
    typealias Scan = @Sendable (StatusReport) async -> Void
    /// A deletion; it throws what could not be deleted.
    typealias Deletion = @Sendable () async throws(FprintError) -> Void
    /// Returns whether the client may do something more, about which a person may be asked.
    typealias Asking = @Sendable (FprintAction) async -> Bool

    /// The reader whose name and kind clients see.
    nonisolated var reader: LibfprintReader { get }
    /// The number of times that an enrollment asks for the finger.
    nonisolated var stages: Int { get }
    /// Whether the reader does nothing else during a deletion.
    var isBusyWhileDeleting: Bool { get }

    /// Prepares the reader for the client that has claimed it.
    func open() async throws(FprintError)
    /// Lets the reader go.
    func close() async throws(FprintError)
    /// Returns the fingers of a user that can be compared on this reader.
    func enrolledFingers(of user: String) async throws(FprintError) -> [Finger]
    /// Returns the fingers of a user that can be deleted, among them those that cannot be compared.
    func deletableFingers(of user: String) async throws(FprintError) -> [Finger]

    /// Returns the enrollment of a finger, with what it needs in addition to the client's rights.
    ///
    /// - Parameters:
    ///   - finger: The finger.
    ///   - user: The user whose finger it is.
    ///   - asking: Asks for rights that the enrollment needs in addition.
    ///   - begun: Called when the reader has begun, or could not.
    /// - Returns: The enrollment, which has not begun.
    /// - Throws: `PermissionDenied` where a right is missing.
    func enrollment(
        of finger: Finger,
        for user: String,
        _ asking: Asking,
        begun: @escaping @Sendable () -> Void
    ) async throws(FprintError) -> Scan

    /// Returns the comparison of a touch with a user's fingers, and the finger's name that the person is told.
    ///
    /// - Parameters:
    ///   - name: The name of a finger; any other name means all fingers.
    ///   - user: The user whose fingers they are.
    /// - Returns: The finger's name and the comparison, which has not begun.
    /// - Throws: `NoEnrolledPrints`, where there is nothing to compare with.
    func verification(of name: String, for user: String) async throws(FprintError) -> (told: String, Scan)

    /// Returns the deletion of fingers, with what it needs in addition to the client's rights.
    ///
    /// - Parameters:
    ///   - fingers: The fingers.
    ///   - user: The user whose fingers they are.
    ///   - asking: Asks for rights that the deletion needs in addition.
    ///   - isClaimed: Tells whether a client has the reader open.
    /// - Returns: The deletion, which has not begun.
    /// - Throws: `PermissionDenied` where a right is missing.
    func deletion(
        of fingers: [Finger],
        for user: String,
        _ asking: Asking,
        isClaimed: @escaping @Sendable () -> Bool
    ) async throws(FprintError) -> Deletion
}
