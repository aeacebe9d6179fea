// SPDX-License-Identifier: Apache-2.0

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
        "The reader was not claimed; call Claim first."
    )
    package static let alreadyInUse = FprintError("AlreadyInUse", "The reader is in use; try again later.")
    package static let noActionInProgress = FprintError(
        "NoActionInProgress",
        "Nothing was begun that could be stopped."
    )
    package static let noEnrolledPrints = FprintError("NoEnrolledPrints", "No finger is enrolled.")
    package static let noSuchDevice = FprintError("NoSuchDevice", "No fingerprint reader is connected.")
    package static let printsNotDeleted = FprintError("PrintsNotDeleted", "Not all prints could be deleted.")
    package static let printsNotDeletedFromDevice = FprintError(
        "PrintsNotDeletedFromDevice",
        "The prints were deleted here, but not all of them from the reader."
    )

    package static func permissionDenied(_ action: String) -> FprintError {
        FprintError("PermissionDenied", "Not authorized: \(action)")
    }

    package static func invalidFingername(_ finger: String) -> FprintError {
        FprintError("InvalidFingername", "“\(finger)” is no finger; an example is right-index-finger.")
    }

    package static func `internal`(_ message: String) -> FprintError { FprintError("Internal", message) }
}
