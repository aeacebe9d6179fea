// SPDX-License-Identifier: Apache-2.0

public import Authentication

/// Whether a finger could be asked for now.
public enum SensorAvailability: Sendable, Hashable {
    /// What kind of sensor there is.
    public enum Kind: String, Sendable, Hashable {
        /// A fingerprint reader; the name is react-native-biometrics's.
        case touchID = "TouchID"
    }

    /// Why not.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// There is no usable reader, or it is not clear which one is meant.
        case noReader
        /// The reader that fingers are enrolled for is not connected.
        case disconnected
        /// No finger is enrolled for the reader.
        case notEnrolled
        /// Too many touches did not match.
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

    /// It could.
    case available(Kind)
    /// It could not, for this reason; the error has the words for people, and what to do.
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
