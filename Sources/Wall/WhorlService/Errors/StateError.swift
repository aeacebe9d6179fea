// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// An error of the state directory.
public struct StateError: Error, Sendable, Hashable, CustomStringConvertible, Codable {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        /// The directory or a file in it cannot be created, written or read.
        case notWritable = "notWritable"
        /// Other users may read or write it, it belongs to another user, or it is not a plain file.
        case tooOpen = "tooOpen"
        /// The database is damaged or gone; nothing was overwritten.
        case damaged = "damaged"
        /// A newer version of Whorl wrote it; nothing was changed.
        case newerVersion = "newerVersion"
        /// The file is another program's database; nothing was changed.
        case foreign = "foreign"
        /// The disk is full; what was stored before is unchanged.
        case diskFull = "diskFull"
        /// The items of this user take as much room as one user's may; nothing was added.
        case quotaReached = "quotaReached"
        /// Another process held the database for longer than the time limit.
        case busy = "busy"
        /// The key is gone although the database exists.
        case keyMissing = "keyMissing"
        /// The key is damaged, or belongs to another database.
        case keyDamaged = "keyDamaged"
        /// The TPM that holds the key or counts the changes cannot be used.
        case chipUnavailable = "chipUnavailable"
        /// Any other error of the system or SQLite.
        case failed = "failed"
    }

    /// The kind of failure.
    public let code: Code
    /// The path of the directory or file at fault.
    public let path: String
    /// One sentence that says what happened.
    public let message: String
    /// One sentence that says what the person can do.
    public let recovery: String
    /// The system's or SQLite's own text and numbers; may be empty.
    public let cause: String

    /// Creates an error with the default texts of its kind, or with others.
    public init(
        _ code: Code,
        path: String,
        message: String? = nil,
        recovery: String? = nil,
        cause: String = ""
    ) {
        self.code = code
        self.path = path
        self.message = message ?? code.message(path)
        self.recovery = recovery ?? code.recovery(path)
        self.cause = cause
    }

    /// For logs: code, path and cause.
    public var description: String {
        "\(code.rawValue): \(path)" + (cause.isEmpty ? "" : " (\(cause))")
    }
}

extension StateError.Code {
    /// One sentence that says what happened.
    func message(_ path: String) -> String {
        switch self {
        case .notWritable: "\(path) cannot be written."
        case .tooOpen: "\(path) is open to others than its owner."
        case .damaged: "The database \(path) is damaged."
        case .newerVersion: "The database \(path) was written by a newer version of Whorl."
        case .foreign: "\(path) is not a database of Whorl."
        case .diskFull: "The disk that holds \(path) is full."
        case .quotaReached: "The items of this user take as much room as one user's may."
        case .busy: "Another process keeps the database \(path) busy."
        case .keyMissing: "The key \(path) is gone, and the database is there."
        case .keyDamaged: "The key \(path) is damaged, or belongs to another database."
        case .chipUnavailable: "The TPM that protects \(path) cannot be used."
        case .failed: "The state directory failed at \(path)."
        }
    }

    /// One sentence that says what the person can do.
    func recovery(_ path: String) -> String {
        let quoted = shellQuoted(path)
        return switch self {
        case .notWritable: "Make it writable for this user, or name another directory with --state-dir."
        case .tooOpen: "Close it: `chmod go= \(quoted)`."
        case .damaged: "Keep the file, run `whorl doctor`, and restore the whole directory from a backup."
        case .newerVersion: "Update Whorl, or name another directory with --state-dir."
        case .foreign: "Move the file away, or name another directory with --state-dir."
        case .diskFull: "Make room on the disk, then try again."
        case .quotaReached: "Delete items that are not needed: `whorl secret list`, `whorl key list`."
        case .busy: "Wait for the other process to end, then try again."
        case .keyMissing, .keyDamaged:
            "Restore the whole directory from a backup; without its key the stored prints cannot be read, "
                + "so otherwise move the directory away and enroll again."
        case .chipUnavailable: "Run `whorl vault status`: it says what is wrong with it."
        case .failed: "Run `whorl doctor`: it names the cause."
        }
    }
}
