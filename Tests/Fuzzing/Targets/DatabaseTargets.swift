// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import Glibc

@testable import WhorlEngine
@testable import WhorlEnrollment
@testable import WhorlStateStore
import WhorlService

extension FuzzTarget {
    static let databaseTargets: [FuzzTarget] = [
        FuzzTarget(name: "database-file", longestInput: 512, check: databaseFile)
    ]

    /// A database that is refused is left as it is; one that is taken can be read.
    ///
    /// An input changes a sound database: two bytes say how long the file is, in 4 bytes; then come places (2 bytes,
    /// counted in 4 bytes) and what stands there.
    private static func databaseFile(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        var file = SoundDatabase.bytes
        let size = 4 * (Int(input.byte()) << 8 | Int(input.byte()))
        if size > 0, size < file.count { file.removeLast(file.count - size) }
        while !input.isAtEnd {
            let place = 4 * (Int(input.byte()) << 8 | Int(input.byte()))
            let patch = input.bytes()
            guard place + patch.count <= file.count else { continue }
            file.replaceSubrange(place..<place + patch.count, with: patch)
        }
        let found: SoundDatabase.Finding
        do {
            found = try SoundDatabase.open(file)
        } catch {
            throw BrokenPromise("the test's own files: \(error)")
        }
        guard found.isRefused else { return }
        try promise(found.file == file, "a refused file was changed")
        try promise(found.names == ["whorl.sqlite"], "a refused file has company: \(found.names)")
    }
}

/// A database with one row in each table that decides about fingers, and what becomes of its changed copies.
private enum SoundDatabase {
    struct Finding {
        let isRefused: Bool
        let file: [UInt8]
        let names: [String]
    }

    static let bytes: [UInt8] = {
        do {
            return try inDirectory { directory in
                try DatabaseOpening.create(directory)
                let queue = try DatabaseOpening.open(directory)
                try queue.access { db in
                    try db.execute(
                        script: """
                            INSERT INTO profiles VALUES ('ada', 3, x'00', 0, NULL);
                            INSERT INTO prints VALUES ('0123456789abcdef0123456789abcdef', 'ada', 7, NULL, 'reader-0',
                                'Reader', 'host', x'0102', zeroblob(32), 1000, NULL, 'enrolled', 'closed');
                            INSERT INTO attempts VALUES ('ada', 'real', 2, 0, 9, 0, NULL, NULL, NULL);
                            """
                    )
                }
                try queue.close()
                return [UInt8](try Data(contentsOf: URL(filePath: directory.databasePath)))
            }
        } catch {
            preconditionFailure("a database in a directory of its own: \(error)")
        }
    }()

    static func open(_ file: [UInt8]) throws -> Finding {
        try inDirectory { directory in
            try Data(file).write(to: URL(filePath: directory.databasePath))
            chmod(directory.databasePath, 0o600)
            var isRefused = false
            do throws(ServiceError) {
                read(try DatabaseOpening.open(directory))
            } catch {
                isRefused = true
            }
            return Finding(
                isRefused: isRefused,
                file: [UInt8](try Data(contentsOf: URL(filePath: directory.databasePath))),
                names: try FileManager.default.contentsOfDirectory(atPath: directory.path)
            )
        }
    }

    /// Reads what decides; that it throws is an answer.
    private static func read(_ queue: DatabaseQueue) {
        queue.access { db in
            _ = try? Manifest(db, profile: "ada")
            _ = try? AttemptLedger(profile: "ada", readers: .real).record(in: db)
        }
        try? queue.close()
    }

    private static func inDirectory<Value>(_ body: (StateDirectory) throws -> Value) throws -> Value {
        let path = FileManager.default.temporaryDirectory.path + "/whorl-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(StateDirectory(path: path))
    }
}
