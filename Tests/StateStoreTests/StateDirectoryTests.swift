// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WhorlStateStore
import Testing
import WhorlService
import WhorlSupport

struct StateDirectoryTests {
    private static let own = (ThisProcess.homeFolder ?? "") + "/.local/state/whorl"

    @Test(arguments: [
        (["WHORL_STATE_DIR": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"], "/a"),
        (["XDG_STATE_HOME": "/b", "HOME": "/c"], "/b/whorl"),
        (["XDG_STATE_HOME": "relative", "HOME": "/c"], "/c/.local/state/whorl"),
        (["WHORL_STATE_DIR": "", "XDG_STATE_HOME": "", "HOME": "/c/"], "/c/.local/state/whorl"),
        // Without a folder of that kind, the user database has one.
        (["HOME": "relative"], own), (["HOME": ""], own), ([:], own),
    ])
    func `the standard directory follows the environment`(environment: [String: String], path: String) {
        #expect(StateDirectory.standard(environment: environment).path == path)
    }

    @Test(arguments: [0o000, 0o022, 0o777] as [mode_t])
    func `directory and files are private whatever the umask is`(mask: mode_t) async throws {
        let home = try TemporaryDirectory()
        let path = home.path
        await #expect(processExitsWith: .success) { [mask, path = path as String] in
            umask(mask)
            let database = try StateDatabase(directory: StateDirectory(path: path + "/state"))
            try await database.log("one")
            precondition(mode(path + "/state") == 0o700)
            for name in ["whorl.sqlite", "whorl.sqlite-wal", "whorl.sqlite-shm", "state.key"] {
                precondition(mode(path + "/state/" + name) == 0o600, name)
            }
        }
    }

    @Test func `missing directories above are made, private too`() throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: StateDirectory(path: home.path + "/a/b/state"))
        #expect(mode(home.path + "/a") == 0o700)
        #expect(mode(home.path + "/a/b/state") == 0o700)
    }

    @Test(
        arguments: [
            ("", 0o755), ("", 0o770), ("", 0o701), ("whorl.sqlite", 0o644), ("whorl.sqlite", 0o620),
            ("state.key", 0o640), ("state.key", 0o604), ("whorl.sqlite-wal", 0o666),
            ("whorl.sqlite-shm", 0o606),
        ] as [(String, mode_t)]
    )
    func `wider modes are refused, and the named command mends them`(name: String, wide: mode_t) throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        let path = name.isEmpty ? home.state.path : home.file(name)
        if name.contains("-") { try Data().write(to: URL(fileURLWithPath: path)) }
        chmod(path, wide)
        let error = try #require(openingError(home.state))
        #expect(error.code == .storeTooOpen)
        #expect(error.subject == path)
        #expect(throws: error) { try StateDatabase.openExisting(home.state) }
        let command = try #require(error.recovery.split(separator: "`").dropFirst().first)
        try shell(String(command))
        #expect(openingError(home.state) == nil)
    }

    @Test(arguments: ["whorl.sqlite", "state.key", "whorl.sqlite-wal"])
    func `links in place of files are refused`(name: String) throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        let real = home.path + "/elsewhere"
        if FileManager.default.fileExists(atPath: home.file(name)) {
            try FileManager.default.moveItem(atPath: home.file(name), toPath: real)
        }
        symlink(real, home.file(name))
        let error = try #require(openingError(home.state))
        #expect(error.code == .storeTooOpen)
        #expect(error.message.contains("a link"))
    }

    @Test(
        .enabled(if: geteuid() == 0, "giving files away needs root"),
        arguments: ["", "whorl.sqlite", "state.key"]
    )
    func `what belongs to another user is refused`(name: String) throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        chown(name.isEmpty ? home.state.path : home.file(name), 65_534, 65_534)
        let error = try #require(openingError(home.state))
        #expect(error.code == .storeTooOpen)
        #expect(error.message.contains("65534"))
    }

    @Test func `a file in the place of the directory is an error of its own`() throws {
        let home = try TemporaryDirectory()
        try Data("x".utf8).write(to: URL(fileURLWithPath: home.state.path))
        #expect(openingError(home.state)?.code == .storeNotWritable)
    }

    @Test func `a directory that cannot be written is named`() async throws {
        let home = try TemporaryDirectory()
        chmod(home.path, 0o755)
        let path = home.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            chmod(path, 0o500)
            if geteuid() == 0 { precondition(setuid(65_534) == 0) }
            let error = openingError(StateDirectory(path: path + "/state"))
            precondition(error?.code == .storeNotWritable, "\(String(describing: error))")
        }
        chmod(home.path, 0o700)
    }

    @Test func `looking at a fresh machine creates nothing`() throws {
        let home = try TemporaryDirectory()
        #expect(try StateDatabase.openExisting(home.state) == nil)
        #expect(try contents(of: home.path).isEmpty)
        mkdir(home.state.path, 0o700)
        #expect(try StateDatabase.openExisting(home.state) == nil)
        #expect(try contents(of: home.state.path).isEmpty)
    }

    private func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
