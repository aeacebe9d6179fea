// SPDX-License-Identifier: Apache-2.0

/// The claim on one reader, and what its holder has begun: who may do what now, and what that makes of it.
///
/// It knows neither the bus nor the reader: its caller does the work between two of its steps.
package struct ClaimState: Sendable, Hashable {
    /// The work that a client begins and ends.
    package enum Action: Sendable, Hashable {
        case verify
        case enroll
        /// Deletions begin and end with one call; no call stops them.
        case delete
    }

    /// The way of a claim: opening the reader, having it, closing it.
    package enum Phase: Sendable, Hashable {
        case opening
        case held
        case closing
    }

    /// The client that has the claim, and the user for whom it was made.
    package struct Holder: Sendable, Hashable {
        package let client: String
        package let user: String
        package fileprivate(set) var phase: Phase
        /// Whether the client left the bus while its reader was being opened.
        package fileprivate(set) var hasLeft = false
    }

    /// The claim; `nil` if the reader is free.
    package private(set) var holder: Holder?
    /// The action that was begun and not ended yet; a finished one that was not stopped counts too.
    package private(set) var action: Action?
    /// Whether a call waits for the action's end.
    package private(set) var isStopping = false

    package init() {}

    /// Whether no client needs the reader.
    package var isFree: Bool { holder == nil && action == nil }

    // MARK: - Claim and Release

    /// Throws unless the reader can be claimed.
    package func requireFree() throws(FprintError) {
        guard isFree else { throw .alreadyInUse }
    }

    /// Begins a claim, whose reader is opened now.
    package mutating func beginOpening(_ client: String, user: String) throws(FprintError) {
        try requireFree()
        holder = Holder(client: client, user: user, phase: .opening)
    }

    /// Ends the opening.
    ///
    /// - Returns: Whether the client still waits for it; otherwise the reader is to be closed.
    package mutating func endOpening() -> Bool {
        holder?.phase = .held
        return holder?.hasLeft == false
    }

    /// Throws unless a client holds the claim, and neither Claim nor Release is under way.
    package func requireHeld(by client: String) throws(FprintError) {
        guard let holder else { throw .claimDevice }
        guard holder.client == client, holder.phase == .held else { throw .alreadyInUse }
    }

    /// Throws if somebody else holds the claim.
    package func requireFreeOrHeld(by client: String) throws(FprintError) {
        if holder != nil { try requireHeld(by: client) }
    }

    /// Begins the release.
    package mutating func beginClosing(_ client: String) throws(FprintError) {
        try requireHeld(by: client)
        holder?.phase = .closing
    }

    /// Takes in that a client left the bus.
    ///
    /// - Returns: Whether its claim is to be released now.
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

    /// Ends the claim, whether or not the reader could be opened or closed.
    package mutating func drop() { holder = nil }

    // MARK: - Actions

    /// Throws if an action was begun and not ended.
    package func requireIdle() throws(FprintError) {
        guard action == nil else { throw .alreadyInUse }
    }

    /// Begins an action.
    package mutating func begin(_ action: Action) throws(FprintError) {
        try requireIdle()
        self.action = action
    }

    /// Begins the end of an action, which its client asked for.
    package mutating func beginStop(_ action: Action) throws(FprintError) {
        guard let running = self.action else { throw .noActionInProgress }
        guard running == action, !isStopping else { throw .alreadyInUse }
        isStopping = true
    }

    /// Ends an action, if it still counts.
    package mutating func end(_ action: Action) {
        guard self.action == action else { return }
        self.action = nil
        isStopping = false
    }
}

/// An error that a client of the interface is told.
package struct FprintError: Error, Sendable, Hashable {
    /// The last part of the name on the bus, which is what programs decide by.
    package let name: String
    /// The cause, for people.
    package let message: String

    /// The whole name on the bus.
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
