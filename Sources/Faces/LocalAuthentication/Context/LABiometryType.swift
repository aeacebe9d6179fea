// SPDX-License-Identifier: Apache-2.0

/// The kind of biometry that a machine has.
public enum LABiometryType: Int, Sendable, Hashable {
    /// None: no reader is connected.
    case none = 0
    /// A fingerprint reader.
    case touchID = 1
    /// Faces; Whorl never returns this.
    case faceID = 2
    /// Irises; Whorl never returns this.
    case opticID = 4

    /// The first name of ``none``.
    public static var LABiometryNone: LABiometryType { .none }
}

/// The raw value of ``LABiometryType/none``.
public let kLABiometryTypeNone: Int32 = 0
/// The raw value of ``LABiometryType/touchID``.
public let kLABiometryTypeTouchID: Int32 = 1
/// The raw value of ``LABiometryType/faceID``.
public let kLABiometryTypeFaceID: Int32 = 2
/// The raw value of ``LABiometryType/opticID``.
public let kLABiometryTypeOpticID: Int32 = 4

/// The kind of a paired device that could confirm the owner's presence; a Linux machine never has one.
public enum LACompanionType: Int, Sendable, Hashable {
    /// None.
    case none = 0
    /// A watch.
    case watch = 1
    /// A Mac.
    case mac = 2
    /// A Vision headset.
    case vision = 4
}

/// The raw value of ``LACompanionType/none``.
public let kLACompanionTypeNone: Int32 = 0
/// The raw value of ``LACompanionType/watch``.
public let kLACompanionTypeWatch: Int32 = 1
/// The raw value of ``LACompanionType/mac``.
public let kLACompanionTypeMac: Int32 = 2
/// The raw value of ``LACompanionType/vision``.
public let kLACompanionTypeVision: Int32 = 4
