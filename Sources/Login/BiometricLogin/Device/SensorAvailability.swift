// SPDX-License-Identifier: Apache-2.0

public import WhorlService

/// The availability of a sensor for fingers.
public enum SensorAvailability: Sendable, Hashable {
    /// The kind of a sensor.
    public enum Kind: String, Sendable, Hashable {
        /// A fingerprint reader; the name is react-native-biometrics's.
        case touchID = "TouchID"
    }

    /// The reason why no finger can be used.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// There is no usable reader, or it is ambiguous which one is meant.
        case noReader
        /// The reader that fingers are enrolled for is not connected.
        case disconnected
        /// No finger is enrolled for the reader.
        case notEnrolled
        /// Fingers are locked, since too many touches did not match.
        case lockedOut
        /// The person has told this program not to use fingers.
        case optedOut
        /// The enrolled fingers were changed from outside, or are an older state.
        case notTrusted
        /// The state directory, or the chip that protects it, cannot be used.
        case storeFailed
        /// Anything else.
        case other
    }

    /// A finger can be used.
    case available(Kind)
    /// No finger can be used, for this reason; the error has the message for people, and the recovery.
    case unavailable(Obstacle, AuthenticationError)

    init(_ preflight: Preflight) {
        self = preflight.obstacle.map { .unavailable(Obstacle($0.code), $0) } ?? .available(.touchID)
    }
}

extension SensorAvailability.Obstacle {
    fileprivate init(_ code: AuthenticationError.Code) {
        self =
            switch code {
            case .biometryNotAvailable, .readerNotChosen: .noReader
            case .biometryDisconnected: .disconnected
            case .biometryNotEnrolled: .notEnrolled
            case .biometryLockout: .lockedOut
            case .biometryOptedOut: .optedOut
            case .enrollmentTampered, .enrollmentRolledBack: .notTrusted
            case .storeFailed, .chipUnavailable: .storeFailed
            case .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet,
                .appCancel,
                .invalidContext, .notInteractive, .reasonMissing, .readerInUse:
                .other
            }
    }
}
