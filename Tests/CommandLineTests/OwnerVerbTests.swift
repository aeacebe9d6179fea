// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import SoftwareTPM
import Testing
import WhorlService

/// Who may change the enrolled fingers, through the program; the TPM is swtpm.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct OwnerVerbTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    private func fingers() async throws -> [String] {
        let list = try await session.run(["fingers", "--json"]).answer("result")?["fingers"]
        return (list as? [[String: Any]])?.compactMap { $0["finger"] as? String } ?? []
    }

    // MARK: - Enrolling

    // Docs/Security.md: A2a
    @Test func `a second finger needs a touch of an enrolled one`() async throws {
        try await session.enroll()
        let alone = try await session.run(
            ["enroll", "left-thumb", "--json"],
            reader: "mock:touch left-thumb*8"
        )
        #expect(alone.status == 10 && alone.errorCode == "authenticationFailed", "\(alone)")
        #expect(!alone.out.contains("\"stage\""), "no stage was begun: \(alone)")
        #expect(try await fingers() == ["right-index-finger"])
        try await session.enroll("left-thumb", by: .rightIndex)
        #expect(try await fingers().sorted() == ["left-thumb", "right-index-finger"])
        let log = try await session.run(["log"]).out
        #expect(log.contains("touch an enrolled finger to enroll the left thumb"), "\(log)")
    }

    @Test func `or the passcode, from an open file without a touch; a wrong one is refused`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        // Without a finger the passcode is the only way.
        let none = try await session.run(["enroll", "right-index"], reader: "mock:touch right-index*6")
        #expect(none.status == 20, "\(none)")
        let wrong = try await session.withPasscode(
            "0000",
            run: "enroll right-index-finger --json",
            reader: "mock:touch right-index*6"
        )
        #expect(wrong.status == 10 && !wrong.out.contains("touch"), "\(wrong)")
        try await session.enroll(by: .passcode("1234"))
        try await session.enroll("left-thumb", by: .passcode("1234"))
        #expect(try await fingers().count == 2)
    }

    // Docs/Security.md: S11
    @Test func `while fingers are locked no touch is offered, and the passcode lets one in`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        let strangers = "mock:touch left-thumb*8"
        let first = try await session.run(["enroll", "left-thumb"], reader: strangers)
        #expect(first.status == 10, "\(first)")
        let second = try await session.run(["enroll", "left-thumb"], reader: strangers)
        #expect(second.status == 17, "\(second)")
        let locked = try await session.run(
            ["enroll", "left-thumb", "--json"],
            reader: "mock:touch right-index,touch left-thumb*8"
        )
        #expect(locked.status != 0 && !locked.out.contains("\"touch\""), "\(locked)")
        #expect(try await fingers() == ["right-index-finger"])
        try await session.enroll("left-thumb", by: .passcode("1234"))
    }

    @Test func `on a terminal the passcode is typed in the same prompt`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        let person = """
            seen() { for _ in $(seq 3000); do grep -aqs "$1" seen && return; sleep 0.02; done; }
            seen "Passcode: "; printf "1234\\r"; seen "status [0-9]"
            """
        let command = "\(WhorlProgram.path) enroll left-thumb; echo status $?"
        let outcome = try await session.sh(
            "{ \(person); } | script -qefc '\(command)' seen",
            reader: "mock:touch left-thumb*6"
        )
        #expect(outcome.out.contains("type the passcode to enroll the left thumb"), "\(outcome)")
        #expect(outcome.out.contains("status 0"), "\(outcome)")
        #expect(try await fingers() == ["left-thumb"])
    }

    // Docs/Security.md: A2b
    @Test func `what the owner agreed to is refused when another program changes the fingers meanwhile`()
        async throws
    {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        let (staged, mark) = AsyncStream.makeStream(of: Void.self)
        let session = session
        async let enrolling = session.whorl.run(
            ["enroll", "left-thumb", "--json", "--timeout", "240"],
            // Long enough for the other program on a busy machine.
            reader: "mock:stages=3,touch right-index,touch left-thumb*3,delay:60000ms,touch left-thumb",
            environment: ["WHORL_TCTI": session.tpm.address]
        ) { line, _ in
            if line.contains("\"completed\":3") { mark.finish() }
        }
        for await _ in staged {}
        let removed = try await session.withPasscode("1234", run: "remove right-index", reader: "mock:hang")
        #expect(removed.status == 0, "\(removed)")
        let outcome = try await enrolling
        #expect(outcome.status == 13 && outcome.errorCode == "changedMeanwhile", "\(outcome)")
        #expect(outcome.errorMessage == ServiceError(.changedMeanwhile).message, "\(outcome)")
        #expect(try await fingers().isEmpty)
    }

    @Test func `killed between the owner's touch and the end, it adds nothing and owes nothing`() async throws
    {
        try await session.enroll()
        for _ in 0..<3 {
            let killed = try await session.whorl.run(
                ["enroll", "left-thumb", "--json"],
                reader: "mock:touch right-index,touch left-thumb*2,hang",
                environment: ["WHORL_TCTI": session.tpm.address]
            ) { line, process in
                if line.contains("\"completed\":2") { Killing.kill(process.processIdentifier) }
            }
            #expect(killed.status == -SIGKILL, "\(killed)")
            try session.tpm.flushLeaks()
        }
        #expect(try await fingers() == ["right-index-finger"])
        // What the killed one was given is gone with it.
        let without = try await session.run(["enroll", "left-thumb"], reader: "mock:touch left-thumb*8")
        #expect(without.status == 10, "\(without)")
    }

    @Test func `killed at the confirming touch, it has used a try`() async throws {
        try await session.enroll()
        for _ in 0..<2 {
            let touches = Touches()
            let killed = try await session.whorl.run(
                ["enroll", "left-thumb", "--json"],
                reader: "mock:stages=3,touch right-index,touch left-thumb*3,hang",
                environment: ["WHORL_TCTI": session.tpm.address]
            ) { line, process in
                if line == #"{"event":"touch"}"#, touches.next() == 5 {
                    Killing.kill(process.processIdentifier)
                }
            }
            #expect(killed.status == -SIGKILL, "\(killed)")
            try session.tpm.flushLeaks()
        }
        let log = try await session.run(["log"]).out
        #expect(log.contains("abandoned"), "\(log)")
    }

    private final class Touches: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0

        func next() -> Int {
            lock.withLock {
                count += 1
                return count
            }
        }
    }

    // MARK: - Removing, and the first passcode

    // Docs/Security.md: A2a
    @Test func `removing one or all needs a touch or the passcode`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.enroll("left-thumb", by: .passcode("1234"))
        for arguments in [["remove", "left-thumb"], ["remove", "--all"]] {
            let stranger = try await session.run(arguments, reader: "mock:touch right-thumb*3")
            #expect([10, 17].contains(stranger.status), "\(stranger)")
        }
        #expect(try await fingers().count == 2)
        let wrong = try await session.withPasscode("0000", run: "remove --all", reader: "mock:match")
        #expect(wrong.status == 10, "\(wrong)")
        let one = try await session.withPasscode("1234", run: "remove left-thumb", reader: "mock:hang")
        #expect(one.status == 0, "\(one)")
        let all = try await session.run(["remove", "--all"], reader: "mock:touch right-index")
        #expect(all.status == 0, "\(all)")
        #expect(try await fingers().isEmpty)
    }

    @Test func `what is not enrolled is said before anybody is asked`() async throws {
        try await session.enroll()
        let missing = try await session.run(["remove", "left-thumb", "--json"], reader: "mock:hang")
        #expect(missing.status == 32 && missing.lines.count == 1, "\(missing)")
        let taken = try await session.run(["enroll", "right-index", "--json"], reader: "mock:hang")
        #expect(taken.status == 34 && taken.lines.count == 1, "\(taken)")
    }

    // Docs/Security.md: S12
    @Test func `a first passcode needs a touch where a finger is enrolled`() async throws {
        try await session.enroll()
        let stranger = try await session.withPasscode(
            "1234",
            run: "passcode set",
            reader: "mock:touch left-thumb*3"
        )
        #expect(stranger.status == 10, "\(stranger)")
        let owner = try await session.withPasscode(
            "1234",
            run: "passcode set",
            reader: "mock:touch right-index"
        )
        #expect(owner.status == 0, "\(owner)")
    }

    // MARK: - Accepting

    /// Puts back the database of before the second finger.
    private func rollBack(passcode: Bool) async throws {
        if passcode { #expect(try await session.withPasscode("1234", run: "passcode set").status == 0) }
        let owner = passcode ? VaultSession.Owner.passcode("1234") : .nobody
        try await session.enroll(by: owner)
        try await session.add("set", "two", access: "biometry-current-set")
        try await session.add("any", "one", access: "biometry-any")
        let path = session.whorl.state + "/whorl.sqlite"
        // What was written last may lie in the log beside the database.
        let old = ["", "-wal"].map { ($0, FileManager.default.contents(atPath: path + $0)) }
        try await session.enroll("left-thumb", by: passcode ? owner : .rightIndex)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        for (suffix, contents) in old where contents != nil {
            try contents?.write(to: URL(filePath: path + suffix))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
        }
        let outcome = try await session.run(["evaluate", "--reason", "r"], reader: "mock:match")
        #expect(outcome.status == 30, "\(outcome)")
    }

    // Docs/Security.md: S13
    @Test func `an older state is accepted with the passcode; what was bound to a set stays closed`()
        async throws
    {
        try await rollBack(passcode: true)
        // Fingers agree to nothing now.
        for arguments in [["fingers", "accept"], ["remove", "--all"]] {
            let touched = try await session.run(arguments, reader: "mock:then=match")
            #expect(touched.status == 20, "\(touched)")
        }
        let add = try await session.withPasscode("1234", run: "enroll left-thumb", reader: "mock:then=match")
        #expect(add.status == 30, "\(add)")
        let wrong = try await session.withPasscode("0000", run: "fingers accept")
        #expect(wrong.status == 10, "\(wrong)")
        let accepted = try await session.withPasscode("1234", run: "fingers accept --json")
        let result = accepted.answer("result")
        #expect(accepted.status == 0 && result?["accepted"] as? Bool == true, "\(accepted)")
        #expect((result?["fingers"] as? [[String: Any]])?.count == 1, "\(accepted)")
        #expect(try await fingers() == ["right-index-finger"])
        #expect(try await session.run(["secret", "get", "any"], reader: "mock:match").out == "one")
        #expect(try await session.run(["secret", "get", "set"], reader: "mock:match").status == 33)
        let again = try await session.run(["fingers", "accept", "--json"])
        #expect(again.answer("result")?["accepted"] as? Bool == false, "\(again)")
    }

    @Test func `a counter that was deleted is made anew with the passcode's consent`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.add("set", "two", access: "biometry-current-set")
        let indices = try session.tpm.handles(from: 0x0180_5701).filter { $0 >> 8 == 0x01_8057 }
        for index in indices {
            #expect(try session.tpm.tool("nvundefine", "0x" + String(index, radix: 16)).status == 0)
        }
        let refused = try await session.withPasscode("0000", run: "fingers accept")
        #expect(refused.status == 10, "\(refused)")
        #expect(try await session.run(["can-evaluate"], reader: "mock:match").status == 30)
        let accepted = try await session.withPasscode("1234", run: "fingers accept")
        #expect(accepted.status == 0 && accepted.out.contains("accepted: right-index-finger"), "\(accepted)")
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        #expect(try await session.run(["secret", "get", "set"], reader: "mock:match").status == 33)
    }

    // Docs/Security.md: S13
    @Test func `without a passcode an older state can only be given up, and items are kept`() async throws {
        try await rollBack(passcode: false)
        let accept = try await session.run(["fingers", "accept"], reader: "mock:then=match")
        #expect(accept.status == 14 && accept.err.contains("whorl remove --all"), "\(accept)")
        #expect(try await session.run(["remove", "--all"], reader: "mock:hang").status == 0)
        try await session.enroll()
        let names = try await session.run(["secret", "list"]).out
        #expect(names.contains("any") && names.contains("set"), "\(names)")
        #expect(try await session.run(["secret", "get", "any"], reader: "mock:match").out == "one")
        #expect(try await session.run(["secret", "get", "set"], reader: "mock:match").status == 33)
    }

    // Docs/Security.md: S14
    @Test func `killed while it accepts, the fingers are as before or accepted, never trusted unasked`()
        async throws
    {
        try await rollBack(passcode: true)
        // Each may use a try of the passcode, of which there are five.
        for milliseconds in [20, 80, 180, 400] {
            let line = "exec \"$W\" fingers accept --passcode-fd 3 3<pw"
            let killed = try await session.sh(
                "echo 1234 >pw; \(line)",
                killedAfter: Double(milliseconds) / 1000
            )
            try session.tpm.flushLeaks()
            let status = try await session.run(["can-evaluate"], reader: "mock:match").status
            #expect(killed.status == 0 ? status == 0 : [0, 30].contains(status), "\(killed), then \(status)")
            if status == 0 { break }
        }
        let end = try await session.withPasscode("1234", run: "fingers accept")
        #expect(end.status == 0, "\(end)")
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
    }
}
