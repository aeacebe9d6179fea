// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

/// What `whorl doctor` says of tries and locks.
struct DoctorTests {
    private let whorl: WhorlProgram

    init() throws { whorl = try WhorlProgram() }

    /// The line that begins so, and the next one.
    private func doctor(
        _ beginning: String,
        reader: String = "mock:match",
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, line: String, next: String) {
        let outcome = try await whorl.run(["doctor"], reader: reader, environment: environment)
        let index = outcome.lines.firstIndex { $0.hasPrefix(beginning) }
        let line = try #require(index, "\(outcome)")
        return (outcome.status, outcome.lines[line], outcome.lines.dropFirst(line + 1).first ?? "")
    }

    @Test func `the tries that are left are told, and forgotten after a match`() async throws {
        try await whorl.enroll()
        #expect(try await doctor("✓ lockout: Fingers are not locked out; no failed attempt").status == 0)
        let script = "mock:no-match*3"
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: script).status == 10)
        let some = try await doctor("– lockout:")
        #expect(some.status == 0)
        #expect(some.line == "– lockout: Fingers are not locked out. 3 attempts failed in a row, 2 are left.")
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        _ = try await doctor("✓ lockout: Fingers are not locked out; no failed attempt")
    }

    @Test func `a lock is told with its end, also by the clock`() async throws {
        try await whorl.enroll()
        for _ in 0..<2 {
            _ = try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:then=no-match")
        }
        let locked = try await doctor("✗ lockout:")
        #expect(locked.status == 1)
        let line = /✗ lockout: Too many .* fingers are locked out until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\./
        #expect(locked.line.wholeMatch(of: line) != nil, "\(locked)")
        #expect(locked.next == "  → Wait. You then get one attempt; if it fails, the lockout gets longer.")
        // Where no mock is meant, its lock is a fact beside.
        let beside = try await doctor("– lockout elsewhere:", reader: "mock:connected=no,match")
        #expect(beside.line.hasPrefix("– lockout elsewhere: On test readers fingers are locked out until "))
    }

    @Test func `a named TPM that is not there is an error, and none is a choice`() async throws {
        let missing = try await whorl.run(["doctor", "--tcti", "device:/dev/none"], reader: "mock:match")
        let line = try #require(missing.lines.firstIndex(of: "✗ TPM: /dev/none not found."), "\(missing)")
        let hint = ServiceError(.noChip, "device:/dev/none").recovery
        #expect(missing.lines[line + 1] == "  → \(hint)", "\(missing)")
        #expect(missing.status == 1)
        let none = try await whorl.run(["doctor", "--tcti", "none"], reader: "mock:match")
        #expect(
            none.lines.contains { $0.hasPrefix("– TPM: Disabled. The prints are protected by a file") },
            "\(none)"
        )
    }

    @Test func `of a reader that cannot list its prints, nothing is said to be in order`() async throws {
        let name = "stored prints"
        let listing = try await doctor("✓ \(name):", reader: "mock:storage=reader,match")
        #expect(listing.status == 0)
        let silent = "mock:storage=reader,features=identify+verify+storage,match"
        let unknown = try await doctor("– \(name):", reader: silent)
        #expect(unknown.line == "– \(name): This reader cannot list its prints.")
        try await whorl.enroll()
        _ = try await doctor("– \(name): This reader cannot list its prints.", reader: silent)
    }

    @Test(
        .enabled(
            if: !FileManager.default.fileExists(atPath: "/run/user/\(getuid())"),
            "the locks of a logged-in user are not below HOME"
        )
    )
    func `a place where no reader can be locked is told`() async throws {
        let place = whorl.home + "/.local/state/whorl-readers"
        try FileManager.default.createDirectory(
            atPath: whorl.home + "/.local/state",
            withIntermediateDirectories: true
        )
        try Data().write(to: URL(filePath: place))
        let trouble = try await doctor("✗ lock file:")
        #expect(trouble.status == 1)
        #expect(trouble.line.contains("\(place) is not a folder; remove it: rm \(place)"))
        #expect(trouble.next.hasPrefix("  → Fix this, then"))
    }
}
