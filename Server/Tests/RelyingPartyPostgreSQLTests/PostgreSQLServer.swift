// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Synchronization

@testable import RelyingPartyPostgreSQL

/// Debian's PostgreSQL server, one for all tests of this process, on a socket in a directory of its own.
///
/// A shell watches over it, which ends it when this process is gone, however that ended.
final class PostgreSQLServer: Sendable {
    private static let programs = "/usr/lib/postgresql"

    /// The folder with `initdb` and `pg_ctl`; tests skip without, or fail when `REQUIRE_PEERS` is set.
    private static let folder: String? = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: programs)) ?? []
        let newest = versions.compactMap(Int.init).sorted().last.map { "\(programs)/\($0)/bin" }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return ([newest].compactMap { $0 } + path.split(separator: ":").map(String.init))
            .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    static var isAvailable: Bool {
        folder != nil || ProcessInfo.processInfo.environment["REQUIRE_PEERS"] != nil
    }

    static let shared = Result { try PostgreSQLServer() }

    let directory: String
    // Held open: the shell waits for its end.
    private let standardInput = Pipe()
    private let databases = Atomic(0)

    private init() throws {
        guard let folder = Self.folder else { throw Missing(what: "no PostgreSQL server is installed") }
        // Short, and where another user can come: the path of a Unix socket has 107 bytes.
        var template = Array("/tmp/whorl-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Missing(what: "no directory") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var command = ["/bin/sh", "-c", Self.script, "sh", folder, directory]
        if geteuid() == 0 {
            // The server refuses to run as root.
            guard let user = getpwnam("postgres") ?? getpwnam("nobody") else {
                throw Missing(what: "no user")
            }
            let (uid, gid) = (user.pointee.pw_uid, user.pointee.pw_gid)
            chown(directory, uid, gid)
            command = ["/usr/bin/setpriv", "--reuid=\(uid)", "--regid=\(gid)", "--clear-groups"] + command
        }
        let process = ChildProgram()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(filePath: "/")
        let output = try ChildPipe()
        process.standardInput = standardInput.fileHandleForReading
        process.standardOutput = output.writing
        process.standardError = output.writing
        try process.start()
        try output.writing.close()
        var said = Data()
        while !said.contains("ready".utf8) {
            let more = output.reading.availableData
            guard !more.isEmpty else { throw Missing(what: String(decoding: said, as: UTF8.self)) }
            said += more
        }
    }

    /// Makes a server and watches over it.
    ///
    /// `$1` is the folder of the programs, `$2` the server's directory. It is only a test's: nothing is synced.
    private static let script = """
        trap '' INT TERM
        "$1/initdb" -D "$2/data" -A trust -N -U whorl -E UTF8 --locale=C >"$2/log" 2>&1 &&
        "$1/pg_ctl" -D "$2/data" -l "$2/log" -w -t 60 -o "-k $2 -c listen_addresses='' -c fsync=off \
        -c port=5432 -c max_connections=400 -c shared_buffers=32MB" start >>"$2/log" 2>&1 && echo ready || cat "$2/log"
        exec >/dev/null 2>&1
        read line
        "$1/pg_ctl" -D "$2/data" -m immediate -w stop
        cd / && rm -rf "$2"
        """

    /// Makes an empty database.
    ///
    /// - Returns: Its URL.
    func database(options: String = "") throws -> String {
        url(try make(options))
    }

    private func make(_ options: String = "") throws -> String {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        let server = try PostgreSQLConnection.open(url: url("postgres"))
        try server.run("CREATE DATABASE \(name) TEMPLATE template0 \(options)")
        return name
    }

    func url(_ database: String) -> String {
        "postgres:///\(database)?host=\(directory)&user=whorl&port=5432"
    }

    /// Makes an empty database behind a proxy.
    func proxy() throws -> (PostgreSQLProxy, url: String) {
        let proxy = try PostgreSQLProxy(to: directory + "/.s.PGSQL.5432")
        return (proxy, proxy.url(try make()))
    }

    struct Missing: Error { let what: String }
}

extension Data {
    fileprivate func contains(_ text: String.UTF8View) -> Bool { range(of: Data(text)) != nil }
}
