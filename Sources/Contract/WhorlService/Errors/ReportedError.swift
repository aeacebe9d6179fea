// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// An error of Whorl's services or readers, in the form that programs show or log.
public protocol ReportedError: Error, Sendable {
    /// The name of the kind of error, which never changes and contains no details.
    var codeName: String { get }
    /// One sentence that describes the error.
    var message: String { get }
    /// One sentence that suggests how to recover.
    var recovery: String { get }
    /// A lower layer's description of the cause; may be empty, and may contain untrusted text.
    var cause: String { get }
    /// The category of the failure, which determines how to handle it.
    var category: ErrorCategory { get }
}

/// The kinds of failures that programs handle in the same way, regardless of which part reports them.
public enum ErrorCategory: String, Sendable, Hashable, CaseIterable, Codable {
    /// The owner did not authenticate, or did so in a way that is not allowed.
    case notAuthenticated = "notAuthenticated"
    /// The user, the program or the system ended the request.
    case cancelled = "cancelled"
    /// A finger or a passcode must be set up first.
    case notSetUp = "notSetUp"
    /// A prompt cannot be shown.
    case notInteractive = "notInteractive"
    /// The reader cannot be used.
    case readerUnavailable = "readerUnavailable"
    /// The TPM cannot be used.
    case chipUnavailable = "chipUnavailable"
    /// The item, finger or print does not exist.
    case notFound = "notFound"
    /// The item, finger or passcode already exists.
    case alreadyExists = "alreadyExists"
    /// The stored item or state is no longer valid or cannot be trusted.
    case noLongerValid = "noLongerValid"
    /// The request is invalid.
    case invalidRequest = "invalidRequest"
    /// The disk, the directory or the database failed.
    case storage = "storage"
    /// A server cannot be reached, or its response is not valid.
    case serverUnavailable = "serverUnavailable"
    /// A server rejected the request.
    case serverRefused = "serverRefused"
    /// Any other failure.
    case other = "other"
}

extension ErrorCategory {
    /// The exit status of `whorl` for a failure of this category.
    ///
    /// Scripts rely on it, so a number never changes its meaning.
    package var exitStatus: Int32 {
        switch self {
        case .notAuthenticated: 10
        case .cancelled: 11
        case .notSetUp: 14
        case .notInteractive: 20
        case .readerUnavailable: 15
        case .chipUnavailable: 31
        case .notFound: 32
        case .noLongerValid: 33
        case .alreadyExists: 34
        case .invalidRequest: 64
        case .serverUnavailable: 69
        case .storage: 74
        case .serverRefused: 77
        case .other: 1
        }
    }
}

extension ReaderError: ReportedError {
    /// The name of the code.
    public var codeName: String { code.rawValue }

    /// The category of the failure, which determines how to handle it.
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
