// SPDX-License-Identifier: Apache-2.0

/// An error that a reader reports.
///
/// "Did not match" and "try again" are results, not errors.
public struct ReaderError: Error, Sendable, Hashable, CustomStringConvertible, Codable {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        /// No reader, or no reader with the requested name, is connected.
        case notFound = "notFound"
        /// Another operation is running on this reader, in this process.
        case busy = "busy"
        /// Another program is using the reader.
        case inUse = "inUse"
        /// The user has no permission to open the reader.
        case permissionDenied = "permissionDenied"
        /// The reader is not open.
        case notOpen = "notOpen"
        /// The reader was unplugged.
        case unplugged = "unplugged"
        /// The operation was cancelled.
        case cancelled = "cancelled"
        /// The system went to sleep. A later touch does not count for an operation that started before the system
        /// slept.
        case suspended = "suspended"
        /// The reader does not support this operation.
        case unsupported = "unsupported"
        /// The reader's storage is full.
        case storageFull = "storageFull"
        /// The finger is already enrolled in the reader.
        case duplicate = "duplicate"
        /// The lock file that prevents simultaneous use of a reader cannot be trusted. The cause contains the remedy.
        case lockUnusable = "lockUnusable"
        /// The template is not stored in the reader.
        case printNotFound = "printNotFound"
        /// This reader cannot read the template.
        case templateInvalid = "templateInvalid"
        /// The reader is too hot.
        case tooHot = "tooHot"
        /// The reader reported something impossible, such as a match with a template that it did not receive.
        case untrustworthy = "untrustworthy"
        /// Any other error that the driver reports.
        case malfunction = "malfunction"
    }

    /// The kind of failure.
    public let code: Code
    /// The operation that failed, such as `enroll`.
    public let operation: String
    /// The C library's message and codes or other details of the cause, or an empty string if nothing is known.
    ///
    /// It may contain text from a device, so sanitize it before printing it to a terminal.
    public let cause: String

    /// Creates an error.
    public init(_ code: Code, operation: String, cause: String = "") {
        self.code = code
        self.operation = operation
        self.cause = cause
    }

    /// A sentence that describes the failure.
    public var message: String {
        switch code {
        case .notFound: "No fingerprint reader found."
        case .busy: "The fingerprint reader is busy with another request."
        case .inUse: "Another program is using the fingerprint reader."
        case .permissionDenied: "You are not allowed to open the fingerprint reader."
        case .notOpen: "The fingerprint reader is not open."
        case .unplugged: "The fingerprint reader was unplugged."
        case .cancelled: "The request to the fingerprint reader was canceled."
        case .suspended: "The system went to sleep while the fingerprint reader was in use."
        case .unsupported: "The fingerprint reader does not support this (\(operation))."
        case .storageFull: "The fingerprint reader's storage is full."
        case .duplicate: "The finger is already enrolled in the fingerprint reader."
        case .lockUnusable: "Cannot lock the fingerprint reader for one program at a time."
        case .printNotFound: "The print is not in the fingerprint reader."
        case .templateInvalid: "The stored print belongs to another fingerprint reader."
        case .tooHot: "The fingerprint reader is too hot."
        case .untrustworthy: "The fingerprint reader returned an impossible result."
        case .malfunction: "The fingerprint reader failed (\(operation))."
        }
    }

    /// A sentence that tells the user what to do.
    public var recovery: String {
        switch code {
        case .notFound: "Connect a supported reader; run `whorl doctor` to find out more."
        case .busy: "Finish the other prompt, then try again."
        case .inUse: "Close the other program (often fprintd: `systemctl stop fprintd`), and try again."
        case .permissionDenied:
            "Ask an administrator to install the service: the package whorld, or `sudo make install`."
        case .notOpen: "Open the reader first."
        case .unplugged: "Connect the reader and try again."
        case .cancelled: "Start again when ready."
        case .suspended: "Try again."
        case .unsupported:
            "Use another reader; `whorl devices` lists what each one supports."
        case .storageFull: "Remove a finger you do not need: `whorl fingers`, then `whorl remove`."
        case .duplicate: "Keep it, or remove it from the reader first."
        case .lockUnusable: "Fix the cause shown by `whorl doctor`, then try again."
        case .printNotFound: "Remove the finger here and enroll it again."
        case .templateInvalid:
            "Connect that reader, or enroll the finger again with this one."
        case .tooHot: "Wait a minute, then try again."
        case .untrustworthy: "Do not use this reader; report it with the output of `whorl doctor --json`."
        case .malfunction:
            "Unplug the reader, plug it in, and try again. If that fails, run `whorl doctor`."
        }
    }

    /// The code, the operation and the cause, for logs.
    public var description: String {
        "\(operation): \(code.rawValue)" + (cause.isEmpty ? "" : " (\(cause))")
    }
}
