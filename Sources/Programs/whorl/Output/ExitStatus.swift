// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The exit status of the program; scripts rely on it, so a number never changes its meaning.
enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// A failure without a status of its own.
    case failure = 1
    case authenticationFailed = 10
    case userCancel = 11
    case userFallback = 12
    case systemCancel = 13
    case passcodeNotSet = 14
    case biometryNotAvailable = 15
    case biometryNotEnrolled = 16
    case biometryLockout = 17
    case appCancel = 18
    case invalidContext = 19
    case notInteractive = 20
    case biometryDisconnected = 21
    /// The enrollment was changed, tampered with, or rolled back.
    case enrollmentUntrusted = 30
    case noTPM = 31
    case noSuchItem = 32
    /// The key or secret is no longer valid.
    case noLongerValid = 33
    case existsAlready = 34
    case readerInUse = 35
    case usage = 64
    /// The server of a login cannot be reached, or does not answer like a login server.
    case serverUnavailable = 69
    /// The disk or the store failed.
    case storeFailed = 74
    /// The server of a login refused the request.
    case serverRefused = 77

    /// Makes the status of an evaluation's error.
    ///
    /// Like the faces' `LAError`, it has Apple's names for most of the codes, and its own values for the rest: no table
    /// would serve both, and each switch names every code.
    init(_ code: AuthenticationError.Code) {
        self =
            switch code {
            case .authenticationFailed: .authenticationFailed
            case .userCancel: .userCancel
            case .userFallback: .userFallback
            case .systemCancel: .systemCancel
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            // It is a separate state, but has no status of its own.
            case .biometryOptedOut: .failure
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockout: .biometryLockout
            case .appCancel: .appCancel
            case .invalidContext: .invalidContext
            case .notInteractive: .notInteractive
            case .biometryDisconnected: .biometryDisconnected
            case .reasonMissing, .readerNotChosen: .usage
            case .enrollmentTampered, .enrollmentRolledBack: .enrollmentUntrusted
            case .readerInUse: .readerInUse
            case .storeFailed: .storeFailed
            case .chipUnavailable: .noTPM
            }
    }
}

extension ExitStatus {
    /// Makes the status of an error that is not an evaluation's.
    init(_ category: ErrorCategory) {
        self =
            switch category {
            case .notAuthenticated: .authenticationFailed
            case .cancelled: .userCancel
            case .notSetUp: .passcodeNotSet
            case .notInteractive: .notInteractive
            case .readerUnavailable: .biometryNotAvailable
            case .chipUnavailable: .noTPM
            case .notFound: .noSuchItem
            case .alreadyExists: .existsAlready
            case .noLongerValid: .noLongerValid
            case .invalidRequest: .usage
            case .storage: .storeFailed
            case .serverUnavailable: .serverUnavailable
            case .serverRefused: .serverRefused
            case .other: .failure
            }
    }
}

extension AuthenticationError.Code {
    /// The number of Apple's `LAError` code of the same name; `nil` if Apple has none.
    var appleRawValue: Int? {
        switch self {
        case .authenticationFailed: -1
        case .userCancel: -2
        case .userFallback: -3
        case .systemCancel: -4
        case .passcodeNotSet: -5
        case .biometryNotAvailable: -6
        case .biometryNotEnrolled: -7
        case .biometryLockout: -8
        case .appCancel: -9
        case .invalidContext: -10
        case .biometryDisconnected: -13
        case .notInteractive: -1004
        case .biometryOptedOut, .reasonMissing, .enrollmentTampered, .enrollmentRolledBack, .readerInUse,
            .storeFailed, .chipUnavailable, .readerNotChosen:
            nil
        }
    }
}
