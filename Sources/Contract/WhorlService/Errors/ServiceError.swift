// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// An error of the services: one that concerns authentication, fingers, items, the TPM or the state directory.
///
/// Its code is a row of the error table, which defines how each part reports the error.
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public let code: Code
    /// One sentence that describes the error.
    public let message: String
    /// One sentence that suggests how to recover.
    public let recovery: String
    /// The cause that a lower layer reported, for logs; may be empty.
    ///
    /// It may contain untrusted text but never a secret.
    public let cause: String
    /// The details of the failure, by name (``Detail``).
    public let details: [String: String]

    /// The names of the details.
    public enum Detail: String, Sendable, Hashable, CaseIterable {
        /// The item, path or address that the error is about.
        case subject = "subject"
        /// The finger that is already enrolled.
        case finger = "finger"
        /// The identifier of the reader that is not connected.
        case reader = "reader"
        /// The number of bytes that were provided.
        case bytes = "bytes"
        /// The time to wait, in milliseconds.
        case milliseconds = "milliseconds"
        /// The items that would be lost, one per line.
        case items = "items"
        /// The reason why an access control cannot be used.
        case reason = "reason"
        /// The reader operation that failed.
        case operation = "operation"
        /// The reader's own error code, as sent between processes.
        case failure = "failure"
    }

    /// Creates an error with the sentences of its row, or with custom ones.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - subject: The item, path or address that the error is about.
    ///   - message: A description of the error, if the row's sentence is not specific enough.
    ///   - recovery: A suggestion, if the row's sentence is not specific enough.
    ///   - cause: The cause that a lower layer reported.
    ///   - details: Other details of the failure.
    public init(
        _ code: Code,
        _ subject: String = "",
        message: String? = nil,
        recovery: String? = nil,
        cause: String = "",
        details: [Detail: String] = [:]
    ) {
        var values: [String: String] = [:]
        for (name, value) in details { values[name.rawValue] = value }
        if !subject.isEmpty { values[Detail.subject.rawValue] = subject }
        self.code = code
        self.cause = cause
        self.details = values
        let named = ErrorDetails(values: values)
        self.message = message ?? code.row.message(named)
        self.recovery = recovery ?? code.row.recovery(named)
    }

    /// Creates the error for an attempt that is refused until the given time has passed.
    package init(_ code: Code, _ subject: String, wait: Duration) {
        self.init(code, subject, details: [.milliseconds: "\(wait.wholeMilliseconds)"])
    }

    /// Creates the error for an access control that cannot be used.
    package static func accessRefused(because reason: String) -> ServiceError {
        ServiceError(.accessRefused, details: [.reason: reason])
    }

    /// The item, path or address that the error is about; may be empty.
    public var subject: String { self[.subject] }

    /// The detail with the given name; empty if the failure has no such detail.
    public subscript(_ detail: Detail) -> String { details[detail.rawValue] ?? "" }

    /// The time to wait before the next attempt; zero if there is no need to wait.
    public var wait: Duration { ErrorDetails(values: details).wait }

    /// Whether the error means that the enrolled fingers cannot be trusted.
    package var isDistrust: Bool {
        [.enrollmentTampered, .enrollmentRolledBack, .readerWasOpen, .accountRenamed].contains(code)
    }

    /// The code, the subject and the cause, for logs.
    public var description: String {
        code.rawValue + (subject.isEmpty ? "" : ": \(subject)") + (cause.isEmpty ? "" : " (\(cause))")
    }
}

extension ServiceError {
    /// Creates the error for a reader's failure, using the sentences of the reader's error.
    public init(_ error: ReaderError) {
        let code: Code =
            switch error.code {
            case .notFound: .biometryNotAvailable
            case .permissionDenied: .readerNotPermitted
            case .busy, .inUse: .readerInUse
            case .unplugged: .biometryDisconnected
            case .cancelled: .appCancel
            case .suspended: .systemCancel
            case .notOpen: .readerNotOpen
            case .unsupported: .readerUnsupported
            case .storageFull: .readerFull
            case .duplicate: .duplicate
            case .lockUnusable: .readerLockUnusable
            case .printNotFound: .printNotFound
            case .templateInvalid: .printRefused
            case .tooHot: .readerTooHot
            case .untrustworthy: .readerUntrustworthy
            case .malfunction: .readerFailed
            }
        self.init(code, message: error.message, recovery: error.recovery, cause: error.description)
    }

    /// Creates the error for a reader's failure during an evaluation in the current task.
    ///
    /// If the reader reports "cancelled" but this task was not cancelled, the system is going to sleep or the driver
    /// ended the scan.
    package init(duringScan error: ReaderError) {
        guard error.code == .cancelled, !Task.isCancelled else {
            self.init(error)
            return
        }
        self.init(.systemCancel, message: error.message, recovery: error.recovery, cause: error.description)
    }
}

/// Runs a reader operation, and converts its error to a ``ServiceError``.
package func ofReader<Value>(
    _ answer: @autoclosure () async throws(ReaderError) -> Value
) async throws(ServiceError) -> Value {
    do { return try await answer() } catch { throw ServiceError(error) }
}

extension ServiceError: ReportedError {
    /// The name of the code.
    public var codeName: String { code.rawValue }

    /// The category of the failure, which determines how to handle it.
    public var category: ErrorCategory { code.category }
}

/// The encoding of an error for messages between processes: an object with its code, sentences and details.
extension ServiceError: Codable {
    private enum Member: CodingKey { case code, message, recovery, cause, details }

    /// Decodes an error; the code may be one that this version does not know.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        code = try members.decode(Code.self, forKey: .code)
        message = try members.decode(String.self, forKey: .message)
        recovery = try members.decode(String.self, forKey: .recovery)
        cause = try members.decode(String.self, forKey: .cause)
        details = try members.decodeIfPresent([String: String].self, forKey: .details) ?? [:]
    }

    /// Encodes the error.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(code, forKey: .code)
        try members.encode(message, forKey: .message)
        try members.encode(recovery, forKey: .recovery)
        try members.encode(cause, forKey: .cause)
        if !details.isEmpty { try members.encode(details, forKey: .details) }
    }
}
