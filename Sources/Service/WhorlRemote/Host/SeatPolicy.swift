// SPDX-License-Identifier: Apache-2.0

/// The places from which a finger may be asked for: the reader is at one machine, and so is the person who touches it.
package enum SeatPolicy: String, Sendable, Hashable, CaseIterable {
    /// The session that is shown at one of the machine's seats now.
    case activeSeatOnly = "active-seat"
    /// Any login session of this machine, also without a seat.
    case localOnly = "local"
    /// Any place.
    case any = "any"
}
