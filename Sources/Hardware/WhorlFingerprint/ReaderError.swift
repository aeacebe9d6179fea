// SPDX-License-Identifier: Apache-2.0

/// An error of a reader.
///
/// "It did not match" and "try again" are results, not errors.
public struct ReaderError: Error, Sendable, Hashable, CustomStringConvertible, Codable {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        /// No reader is connected, or none of the wanted name.
        case notFound = "notFound"
        /// Another operation runs on this reader, in this process.
        case busy = "busy"
        /// Another program holds the reader.
        case inUse = "inUse"
        /// The system does not let this user open the reader.
        case permissionDenied = "permissionDenied"
        /// The reader is not open.
        case notOpen = "notOpen"
        /// The reader was unplugged.
        case unplugged = "unplugged"
        /// The caller cancelled.
        case cancelled = "cancelled"
        /// The system went to sleep; a finger that comes after it is not taken for an answer from before.
        case suspended = "suspended"
        /// The reader cannot do this.
        case unsupported = "unsupported"
        /// The reader has no room for another template.
        case storageFull = "storageFull"
        /// The finger is enrolled in the reader already.
        case duplicate = "duplicate"
        /// The file that keeps programs from using one reader at once cannot be trusted; the cause says what to do.
        case lockUnusable = "lockUnusable"
        /// The template is not in the reader.
        case printNotFound = "printNotFound"
        /// A template cannot be read by this reader.
        case templateInvalid = "templateInvalid"
        /// The reader is too warm.
        case tooHot = "tooHot"
        /// The reader said something that cannot be true, such as a match with a template that it was not given.
        case untrustworthy = "untrustworthy"
        /// Anything else that the driver reports.
        case malfunction = "malfunction"
    }

    /// The kind of failure.
    public let code: Code
    /// The operation that failed, such as `enroll`.
    public let operation: String
    /// The C library's own words and numbers, or what is known about the cause; may be empty.
    ///
    /// It may hold text from a device: clean it before it reaches a terminal.
    public let cause: String

    /// Describes a failure.
    public init(_ code: Code, operation: String, cause: String = "") {
        self.code = code
        self.operation = operation
        self.cause = cause
    }

    /// One sentence that says what happened.
    public var message: String {
        switch code {
        case .notFound: "No fingerprint reader was found."
        case .busy: "The fingerprint reader is busy with another request."
        case .inUse: "Another program is using the fingerprint reader."
        case .permissionDenied: "This user may not open the fingerprint reader."
        case .notOpen: "The fingerprint reader is not open."
        case .unplugged: "The fingerprint reader was unplugged."
        case .cancelled: "The request to the fingerprint reader was cancelled."
        case .suspended: "The system went to sleep while the fingerprint reader was in use."
        case .unsupported: "The fingerprint reader cannot do this (\(operation))."
        case .storageFull: "The fingerprint reader has no room for another print."
        case .duplicate: "The finger is enrolled in the fingerprint reader already."
        case .lockUnusable: "The fingerprint reader cannot be locked for one program at a time."
        case .printNotFound: "The print is not in the fingerprint reader."
        case .templateInvalid: "The stored print does not belong to this fingerprint reader."
        case .tooHot: "The fingerprint reader is too warm."
        case .untrustworthy: "The fingerprint reader gave an answer that cannot be true."
        case .malfunction: "The fingerprint reader failed (\(operation))."
        }
    }

    /// One sentence that says what the person can do.
    public var recovery: String {
        switch code {
        case .notFound: "Plug in a reader that libfprint supports; `whorl doctor` looks for the cause."
        case .busy: "Wait for the other prompt to end, then try again."
        case .inUse: "Close the other program (often fprintd: `systemctl stop fprintd`), then try again."
        case .permissionDenied:
            "An administrator has to install the service whorld: `sudo make install`, or the package whorld."
        case .notOpen: "Open the reader first."
        case .unplugged: "Plug the reader in and try again."
        case .cancelled: "Start again when ready."
        case .suspended: "Try again."
        case .unsupported:
            "Use another reader, or do without this; `whorl devices` lists what each one can do."
        case .storageFull: "Remove a finger that is not needed: `whorl fingers`, then `whorl remove`."
        case .duplicate: "Use the finger as it is, or remove it from the reader first."
        case .lockUnusable: "Do what the reason says, then try again; `whorl doctor` shows it."
        case .printNotFound: "Remove the finger here and enroll it again."
        case .templateInvalid:
            "Connect the reader it was enrolled with, or enroll the finger again on this one."
        case .tooHot: "Wait a minute, then try again."
        case .untrustworthy: "Do not rely on this reader; report it with the output of `whorl doctor --json`."
        case .malfunction:
            "Unplug the reader, plug it in again, and try once more; `whorl doctor` helps if that fails."
        }
    }

    /// For logs: code, operation and cause.
    public var description: String {
        "\(operation): \(code.rawValue)" + (cause.isEmpty ? "" : " (\(cause))")
    }
}
