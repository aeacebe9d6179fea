// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import Testing
import WhorlSupport

@testable import WhorlLibfprint

// Docs/Security.md: S25
/// The lock files of readers, and what others may have put in their places.
@Suite struct `The lock of a reader` {
    private let id = ReaderID(rawValue: "elan-0")
    private let parent: String
    private var place: LockPlace { LockPlace(parent: parent, folders: ["locks"]) }
    private var folder: String { parent + "/locks" }
    private var file: String { folder + "/reader-elan_0.lock" }

    init() throws {
        parent =
            FileManager.default.temporaryDirectory.appending(path: "whorl-lock-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    }

    private func tidy() { try? FileManager.default.removeItem(atPath: parent) }

    /// What taking the lock says; `nil` when it was had.
    private func refusal(_ places: [LockPlace]? = nil, emulation: String? = nil) -> ReaderError? {
        do throws(ReaderError) {
            _ = try ReaderLock.take(for: id, emulation: emulation, places: places ?? [place])
            return nil
        } catch {
            return error
        }
    }

    private func expectRefusal(_ words: String..., at location: SourceLocation = #_sourceLocation) {
        let error = refusal()
        #expect(error?.code == .lockUnusable, sourceLocation: location)
        for word in words {
            #expect(error?.cause.contains(word) == true, "\(error?.cause ?? "")", sourceLocation: location)
        }
    }

    private func makeFolder(_ mode: mode_t = 0o700) { mkdir(folder, mode); chmod(folder, mode) }

    @Test func `is had by one at a time, who is named, and its file stays`() throws {
        defer { tidy() }
        let first = try ReaderLock.take(for: id, emulation: nil, places: [place])
        let error = refusal()
        #expect(error?.code == .inUse)
        #expect(error?.cause.contains("process \(getpid())") == true)
        first.release()
        #expect(refusal() == nil)
        #expect(FileManager.default.fileExists(atPath: file))
        var status = stat()
        #expect(lstat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(lstat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `is in the first place whose parent is there, whatever the settings`() throws {
        defer { tidy() }
        let missing = LockPlace(parent: parent + "/none", folders: ["locks"])
        #expect(refusal([missing, place]) == nil)
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(
            LockPlace.all(user: 7, home: "/home/somebody").map(\.path) == [
                "/run/user/7/whorl", "/home/somebody/.local/state/whorl-readers", "/tmp/whorl-7",
            ]
        )
        #expect(refusal([missing])?.code == .lockUnusable)
    }

    @Test func `is not looked for elsewhere when its folder cannot be trusted`() {
        defer { tidy() }
        makeFolder(0o755)
        let other = LockPlace(parent: parent, folders: ["other"])
        #expect(refusal([place, other])?.code == .lockUnusable)
        #expect(!FileManager.default.fileExists(atPath: other.path))
    }

    @Test(arguments: [0o755, 0o777, 0o701, 0o740] as [mode_t])
    func `is refused in a folder that others can open`(mode: mode_t) {
        defer { tidy() }
        makeFolder(mode)
        expectRefusal(folder, "chmod 700 \(folder)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `is refused behind a link, and where a file is in the folder's place`() throws {
        defer { tidy() }
        let elsewhere = parent + "/elsewhere"
        mkdir(elsewhere, 0o700)
        symlink(elsewhere, folder)
        expectRefusal("\(folder) is a link", "rm \(folder)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        unlink(folder)
        try Data().write(to: URL(filePath: folder))
        expectRefusal("\(folder) is not a folder", "rm \(folder)")
    }

    @Test(.enabled(if: getuid() == 0, "only root can give files away"))
    func `is refused in another user's folder, and in another user's file`() {
        defer { tidy() }
        makeFolder()
        chown(folder, 65_534, 65_534)
        expectRefusal("\(folder) belongs to user 65534", "sudo rm -r \(folder)")
        chown(folder, 0, 0)
        #expect(refusal() == nil)
        chown(file, 65_534, 65_534)
        expectRefusal("\(file) belongs to user 65534", "sudo rm \(file)")
    }

    @Test func `is refused where a link, a folder or a pipe is in the file's place`() throws {
        defer { tidy() }
        makeFolder()
        let target = parent + "/target"
        symlink(target, file)
        expectRefusal("\(file) is a link", "rm \(file)")
        #expect(!FileManager.default.fileExists(atPath: target))
        unlink(file)
        mkdir(file, 0o700)
        expectRefusal("\(file) is a folder", "rm -r \(file)")
        rmdir(file)
        mkfifo(file, 0o600)
        expectRefusal("\(file) is not a file")
    }

    /// `flock(2)` asks for no right to write.
    @Test func `is refused in a file that others can open`() throws {
        defer { tidy() }
        #expect(refusal() == nil)
        chmod(file, 0o644)
        expectRefusal("\(file) is open to other users", "chmod 600 \(file)")
    }

    @Test func `of a pretended reader is beside its socket, in no user's folder`() throws {
        defer { tidy() }
        let socket = parent + "/s"
        let held = try ReaderLock.take(for: id, emulation: socket, places: [])
        #expect(refusal([], emulation: socket)?.code == .inUse)
        #expect(refusal([], emulation: parent + "/t") == nil, "another socket is another reader")
        #expect(FileManager.default.fileExists(atPath: socket + ".reader-elan_0.lock"))
        held.release()
    }

    @Test func `of an elevated program is in no folder that its caller's HOME names`() async {
        await #expect(processExitsWith: .success) {
            setenv("HOME", "/tmp/of-the-caller", 1)
            let isObeyed = { (places: [LockPlace]) in places.contains { $0.path.contains("of-the-caller") } }
            let obeys = isObeyed(LockPlace.ours(isElevated: false))
            exit(obeys && !isObeyed(LockPlace.ours(isElevated: true)) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `of an elevated program is behind no link, also above its folder`() throws {
        defer { tidy() }
        let elsewhere = parent + "/elsewhere"
        mkdir(elsewhere, 0o700)
        symlink(elsewhere, parent + "/above")
        let deep = LockPlace(parent: parent, folders: ["above", "locks"])
        #expect(throws: ReaderError.self) { try LockPlace.open([deep], followsLinks: false) }
        #expect(!FileManager.default.fileExists(atPath: elsewhere + "/locks"))
        close(try LockPlace.open([deep], followsLinks: true).descriptor)
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user"))
    func `belongs to the user whose rights the program has, not to the one that started it`() async {
        await #expect(processExitsWith: .success) {
            let parent = "/tmp/whorl-effective-\(getpid())"
            mkdir(parent, 0o777)
            chmod(parent, 0o777)
            seteuid(65_534)
            let place = LockPlace(parent: parent, folders: ["locks"])
            let lock = try ReaderLock.take(for: ReaderID(rawValue: "elan-0"), emulation: nil, places: [place])
            lock.release()
            let isThere = LockPlace.ours.contains { $0.path.contains("65534") }
            seteuid(0)
            try FileManager.default.removeItem(atPath: parent)
            exit(isThere ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
