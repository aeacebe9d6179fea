// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The shape that the errors of Whorl's services and readers share, for programs that show or log any of them.
public protocol ReportedError: Error, Sendable {
    /// The name of the kind of failure, which never changes; values that belong to the kind are not in it.
    var codeName: String { get }
    /// One sentence that says what happened.
    var message: String { get }
    /// One sentence that says what the person can do.
    var recovery: String { get }
    /// A lower layer's description of the cause; may be empty, and may hold text from outside.
    var cause: String { get }
    /// The kind of handling that the failure asks for.
    var category: ErrorCategory { get }
}

/// The kinds of failures that programs handle alike, whichever part reports them.
public enum ErrorCategory: String, Sendable, Hashable, CaseIterable, Codable {
    /// The owner did not authenticate, or not in a way that is allowed.
    case notAuthenticated = "notAuthenticated"
    /// The person, the program or the system ended the request.
    case cancelled = "cancelled"
    /// A finger or a passcode has to be set up first.
    case notSetUp = "notSetUp"
    /// No prompt can be shown.
    case notInteractive = "notInteractive"
    /// The reader cannot be used.
    case readerUnavailable = "readerUnavailable"
    /// The TPM cannot be used.
    case chipUnavailable = "chipUnavailable"
    /// The item, finger or print does not exist.
    case notFound = "notFound"
    /// The item, finger or passcode exists already.
    case alreadyExists = "alreadyExists"
    /// The stored item or state is no longer valid, or cannot be trusted.
    case noLongerValid = "noLongerValid"
    /// The request itself cannot be fulfilled as it was made.
    case invalidRequest = "invalidRequest"
    /// The disk, the directory or the database failed.
    case storage = "storage"
    /// A server cannot be reached, or does not answer as one.
    case serverUnavailable = "serverUnavailable"
    /// A server refused.
    case serverRefused = "serverRefused"
    /// Another failure.
    case other = "other"
}

extension AuthenticationError: ReportedError {
    /// The name of the code, which is Apple's where Apple has one.
    public var codeName: String { code.rawValue }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory {
        switch code {
        case .authenticationFailed, .biometryLockout: .notAuthenticated
        case .userCancel, .userFallback, .systemCancel, .appCancel: .cancelled
        case .passcodeNotSet, .biometryNotEnrolled: .notSetUp
        case .notInteractive: .notInteractive
        case .biometryNotAvailable, .biometryDisconnected, .readerInUse: .readerUnavailable
        case .chipUnavailable: .chipUnavailable
        case .enrollmentTampered, .enrollmentRolledBack: .noLongerValid
        case .invalidContext, .reasonMissing, .readerNotChosen: .invalidRequest
        case .storeFailed: .storage
        case .biometryOptedOut: .other
        }
    }
}

extension StateError: ReportedError {
    /// The name of the code.
    public var codeName: String { code.rawValue }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory { code == .chipUnavailable ? .chipUnavailable : .storage }
}

extension EnrollmentError: ReportedError {
    /// The name of the code, without the values that belong to it.
    public var codeName: String { code.name }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory {
        switch code {
        case .fingerExists, .duplicate: .alreadyExists
        case .timedOut, .changedMeanwhile: .cancelled
        case .enrollmentTampered, .enrollmentRolledBack, .readerWasOpen, .accountRenamed: .noLongerValid
        case .ownerNeeded, .lockedOut: .notAuthenticated
        case .noSuchFinger: .notFound
        case .readerNotConnected: .readerUnavailable
        case .inconsistent, .tooManyRetries: .other
        case .reader(let error): error.category
        case .store(let error): error.category
        }
    }
}

extension VaultError: ReportedError {
    /// The name of the code, without the values that belong to it.
    public var codeName: String { code.name }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory {
        switch code {
        case .noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded,
            .chipFull, .noEndorsement, .credentialRefused:
            .chipUnavailable
        case .noSuchItem: .notFound
        case .enrollmentChanged, .itemTampered, .measuredBootChanged, .counterLost: .noLongerValid
        case .itemExists, .passcodeExists: .alreadyExists
        case .accessDenied, .applicationPasswordWrong, .passcodeWrong, .passcodeThrottled, .passcodeBusy,
            .applicationPasswordThrottled, .chipLockedOut:
            .notAuthenticated
        case .passcodeNotSet: .notSetUp
        case .nameRefused, .secretEmpty, .secretTooLarge, .digestWrongSize, .publicKeyRefused,
            .accessRefused, .passcodeWrongSize, .applicationPasswordNeeded:
            .invalidRequest
        case .passcodeNeeded: .other
        case .store(let error): error.category
        }
    }
}

extension ReaderError: ReportedError {
    /// The name of the code.
    public var codeName: String { code.rawValue }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory {
        switch code {
        case .cancelled, .suspended: .cancelled
        case .duplicate: .alreadyExists
        case .printNotFound: .notFound
        case .notFound, .busy, .inUse, .permissionDenied, .notOpen, .unplugged, .unsupported, .storageFull,
            .lockUnusable, .templateInvalid, .tooHot, .untrustworthy, .malfunction:
            .readerUnavailable
        }
    }
}
