// SPDX-License-Identifier: Apache-2.0

/// The claim on one reader and the operations of the client that holds it.
///
/// They determine which calls are allowed and what they do.
///
/// It does not use the bus or the reader: the caller does the work between its steps.
package struct ClaimState: Sendable, Hashable {
    /// An action that a client starts and stops.
    package enum Action: Sendable, Hashable {
        case verify
        case enroll
        /// A deletion. It begins and ends with one call, and no call stops it.
        case delete
    }

    /// The phases of a claim: the reader is being opened, held or closed.
    package enum Phase: Sendable, Hashable {
        case opening
        case held
        case closing
    }

    /// The client that holds the claim, and the user for whom the reader was claimed.
    package struct Holder: Sendable, Hashable {
        package let client: String
        package let user: String
        package fileprivate(set) var phase: Phase
        /// Whether the client left the bus while its reader was being opened.
        package fileprivate(set) var hasLeft = false
    }

    /// The holder of the claim; `nil` if the reader is not claimed.
    package private(set) var holder: Holder?
    /// The current action, which may have finished but not been stopped yet.
    package private(set) var action: Action?
    /// Whether a call is waiting for the action to end.
    package private(set) var isStopping = false

    package init() {}

    /// Whether no client currently needs the reader.
    package var isFree: Bool { holder == nil && action == nil }

    // MARK: - Claim and Release

    /// Checks that the reader can be claimed; throws if not.
    package func requireFree() throws(FprintError) {
        guard isFree else { throw .alreadyInUse }
    }

    /// Begins a claim; the caller then opens the reader.
    package mutating func beginOpening(_ client: String, user: String) throws(FprintError) {
        try requireFree()
        holder = Holder(client: client, user: user, phase: .opening)
    }

    /// Records that the reader has been opened.
    ///
    /// - Returns: Whether the client is still on the bus; if not, the reader must be closed.
    package mutating func endOpening() -> Bool {
        holder?.phase = .held
        return holder?.hasLeft == false
    }

    /// Checks that a client holds the claim and neither Claim nor Release is in progress; throws if not.
    package func requireHeld(by client: String) throws(FprintError) {
        guard let holder else { throw .claimDevice }
        guard holder.client == client, holder.phase == .held else { throw .alreadyInUse }
    }

    /// Checks that no other client holds the claim; throws if one does.
    package func requireFreeOrHeld(by client: String) throws(FprintError) {
        if holder != nil { try requireHeld(by: client) }
    }

    /// Begins releasing the reader.
    package mutating func beginClosing(_ client: String) throws(FprintError) {
        try requireHeld(by: client)
        holder?.phase = .closing
    }

    /// Records that a client has left the bus.
    ///
    /// - Returns: Whether the client's claim must be released now.
    package mutating func left(_ client: String) -> Bool {
        guard holder?.client == client else { return false }
        switch holder?.phase {
        case .held: return true
        case .opening:
            holder?.hasLeft = true
            return false
        case .closing, nil: return false
        }
    }

    /// Ends the claim, even if the reader could not be opened or closed.
    package mutating func drop() { holder = nil }

    // MARK: - Actions

    /// Checks that there is no current action; throws if there is one.
    package func requireIdle() throws(FprintError) {
        guard action == nil else { throw .alreadyInUse }
    }

    /// Begins an action.
    package mutating func begin(_ action: Action) throws(FprintError) {
        try requireIdle()
        self.action = action
    }

    /// Begins stopping an action, as requested by its client.
    package mutating func beginStop(_ action: Action) throws(FprintError) {
        guard let running = self.action else { throw .noActionInProgress }
        guard running == action, !isStopping else { throw .alreadyInUse }
        isStopping = true
    }

    /// Ends an action if it is still the current one.
    package mutating func end(_ action: Action) {
        guard self.action == action else { return }
        self.action = nil
        isStopping = false
    }
}

/// An error that is returned to a client of the interface.
package struct FprintError: Error, Sendable, Hashable {
    /// The last part of the error's name on the bus, by which programs distinguish errors.
    package let name: String
    /// The cause, as shown to the user.
    package let message: String

    /// The full name on the bus.
    package var busName: String { "net.reactivated.Fprint.Error.\(name)" }

    private init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    package static let claimDevice = FprintError(
        "ClaimDevice",
        "The reader is not claimed; call Claim first."
    )
    package static let alreadyInUse = FprintError("AlreadyInUse", "The reader is in use; try again later.")
    package static let noActionInProgress = FprintError(
        "NoActionInProgress",
        "There is nothing to stop."
    )
    package static let noEnrolledPrints = FprintError("NoEnrolledPrints", "No finger is enrolled.")
    package static let noSuchDevice = FprintError("NoSuchDevice", "No fingerprint reader found.")
    package static let printsNotDeleted = FprintError("PrintsNotDeleted", "Some prints could not be deleted.")
    package static let printsNotDeletedFromDevice = FprintError(
        "PrintsNotDeletedFromDevice",
        "The prints were deleted here, but some are still in the reader."
    )

    package static func permissionDenied(_ action: String) -> FprintError {
        FprintError("PermissionDenied", "Not authorized: \(action)")
    }

    package static func invalidFingername(_ finger: String) -> FprintError {
        FprintError("InvalidFingername", "Unknown finger “\(finger)”. Use a name such as right-index-finger.")
    }

    package static func `internal`(_ message: String) -> FprintError { FprintError("Internal", message) }
}
