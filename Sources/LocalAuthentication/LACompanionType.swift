// SPDX-License-Identifier: Apache-2.0

/// What kind of device can stand in for a finger; none can on a Linux machine.
public enum LACompanionType: Int, Sendable {
    /// A paired watch.
    case watch = 1
    /// A paired Mac.
    case mac = 2
    /// A paired headset.
    case vision = 4
}

/// The raw value of ``LACompanionType/watch``.
public let kLACompanionTypeWatch: Int32 = 1
/// The raw value of ``LACompanionType/mac``.
public let kLACompanionTypeMac: Int32 = 2
