// SPDX-License-Identifier: Apache-2.0

/// Why the state directory could not be used.
public struct StateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The directory or a file in it cannot be created, written or read.
        case notWritable
        /// Others than its owner may read or write, it belongs to somebody else, or it is not a plain file.
        case tooOpen
        /// The database is damaged or gone; nothing was overwritten.
        case damaged
        /// A newer version of Whorl wrote it; nothing was changed.
        case newerVersion
        /// The file is some other program's database; nothing was changed.
        case foreign
        /// The disk is full; what was stored before is there.
        case diskFull
        /// Another process held the database for longer than the time limit.
        case busy
        /// The key is gone although the database is there.
        case keyMissing
        /// The key is damaged, or belongs to another database.
        case keyDamaged
        /// The TPM holds the key or counts the changes, and cannot be used.
        case chipUnavailable
        /// Anything else that the system or SQLite reports.
        case failed
    }

    /// What kind of failure it is.
    public let code: Code
    /// The directory or the file that it is about.
    public let path: String
    /// What happened, in one sentence.
    public let message: String
    /// What the person can do, in one sentence.
    public let recovery: String
    /// The system's or SQLite's own words and numbers; may be empty.
    public let cause: String

    /// Describes a failure in the words of its kind, or in others.
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
    /// What happened, in one sentence.
    func message(_ path: String) -> String {
        switch self {
        case .notWritable: "\(path) cannot be written."
        case .tooOpen: "\(path) is open to others than its owner."
        case .damaged: "The database \(path) is damaged."
        case .newerVersion: "The database \(path) was written by a newer version of Whorl."
        case .foreign: "\(path) is not a database of Whorl."
        case .diskFull: "The disk that holds \(path) is full."
        case .busy: "Another process keeps the database \(path) busy."
        case .keyMissing: "The key \(path) is gone, and the database is there."
        case .keyDamaged: "The key \(path) is damaged, or belongs to another database."
        case .chipUnavailable: "The TPM that protects \(path) cannot be used."
        case .failed: "The state directory failed at \(path)."
        }
    }

    /// What the person can do, in one sentence.
    func recovery(_ path: String) -> String {
        let quoted = shellQuoted(path)
        return switch self {
        case .notWritable: "Make it writable for this user, or name another directory with --state-dir."
        case .tooOpen: "Close it: `chmod go= \(quoted)`."
        case .damaged: "Keep the file, run `whorl doctor`, and restore the whole directory from a backup."
        case .newerVersion: "Update Whorl, or name another directory with --state-dir."
        case .foreign: "Move the file away, or name another directory with --state-dir."
        case .diskFull: "Make room on the disk, then try again."
        case .busy: "Wait for the other process to end, then try again."
        case .keyMissing, .keyDamaged:
            "Restore the whole directory from a backup; without its key the stored prints cannot be read, "
                + "so otherwise move the directory away and enroll again."
        case .chipUnavailable: "Run `whorl vault status`: it says what is wrong with it."
        case .failed: "Run `whorl doctor`: it names the cause."
        }
    }
}

/// A path as a shell takes it, for commands that people copy.
func shellQuoted(_ path: String) -> String {
    let plain = path.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "@"):
            true
        default: false
        }
    }
    guard !plain else { return path }
    return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
