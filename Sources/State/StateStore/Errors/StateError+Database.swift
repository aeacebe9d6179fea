// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import WhorlService

extension StateError {
    /// Converts an error of SQLite to an error of the state directory.
    init(_ error: any Error, path: String) {
        if let known = error as? StateError {
            self = known
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.failed, path: path, cause: "\(error)")
            return
        }
        // The statement and its arguments are left out of the cause: they may hold a label or a template.
        // SQLite says "unable to open database file" without the system's reason.
        if error.resultCode == .SQLITE_CANTOPEN,
            let shortage = Self.shortage(nextDescriptorFailure(), path: path)
        {
            self = shortage
            return
        }
        let cause = "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "")"
        self.init(Code(error, path: path), path: path, cause: cause)
    }
}

extension StateError.Code {
    fileprivate init(_ error: DatabaseError, path: String) {
        switch error.resultCode {
        case .SQLITE_FULL: self = .diskFull
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: self = .notWritable
        // A full disk appears as an input/output error if the shared memory of the log cannot grow.
        case .SQLITE_IOERR where Self.isFull(path): self = .diskFull
        default: self = .failed
        }
    }

    private static func isFull(_ path: String) -> Bool {
        var disk = statvfs()
        return statvfs(path, &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail == 0
    }
}
