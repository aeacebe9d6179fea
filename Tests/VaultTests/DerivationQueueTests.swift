// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Synchronization
import Testing
import WhorlService

@testable import WhorlVault

/// The queue in which what costs memory and time is derived.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct DerivationQueueTests {
    /// A body that stays until it is let go, and counts those inside.
    private final class Room: Sendable {
        struct Inside {
            var now: [String] = []
            var most = 0
            var mostOfOne = 0
        }

        let inside = Mutex(Inside())

        func stay(_ directory: String) async {
            inside.withLock { inside in
                inside.now.append(directory)
                inside.most = max(inside.most, inside.now.count)
                inside.mostOfOne = max(inside.mostOfOne, inside.now.count { $0 == directory })
            }
            for _ in 0..<20 { await Task.yield() }
            inside.withLock { inside in
                if let place = inside.now.firstIndex(of: directory) { inside.now.remove(at: place) }
            }
        }
    }

    // Docs/Security.md: C5a
    @Test func `at most two run at a time, and one of each user`() async {
        let queue = DerivationQueue()
        let room = Room()
        let refused = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let directory = "/\(number % 4)"
                    do throws(ServiceError) {
                        return try await queue.inTurn(of: directory) { _ in
                            await room.stay(directory)
                            return false
                        }
                    } catch {
                        return true
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 0)
        let (most, mostOfOne) = room.inside.withLock { ($0.most, $0.mostOfOne) }
        #expect(most <= 2 && mostOfOne == 1, "\(most), \(mostOfOne)")
        #expect(queue.counts == (0, 0))
    }

    // Docs/Security.md: C5a
    @Test func `who sends more than may wait is refused, and no one else`() async throws {
        let queue = DerivationQueue()
        let (holds, hold) = AsyncStream.makeStream(of: Void.self)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await queue.inTurn(of: "/mallory") { _ in
                begin.yield()
                for await _ in holds { break }
                return 0
            }
        }
        for await _ in begins { break }
        let (refusals, refusal) = AsyncStream.makeStream(of: Void.self)
        let flood = Task {
            await withTaskGroup(of: ServiceError.Code?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let code = await code {
                            try await queue.inTurn(of: "/mallory") { _ in 0 }
                        }
                        if code != nil { refusal.yield() }
                        return code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        // Before a place becomes free, all of them have come.
        for await _ in refusals.prefix(100 - DerivationQueue.mostWaiting) {}
        // Another user has his turn meanwhile.
        _ = try await queue.inTurn(of: "/owner") { _ in 0 }
        hold.yield()
        let codes = await flood.value
        #expect(codes.count { $0 == nil } == DerivationQueue.mostWaiting)
        #expect(codes.count { $0 == .passcodeBusy } == 100 - DerivationQueue.mostWaiting)
        #expect(try await first.value == 0)
        #expect(queue.counts == (0, 0))
    }

    @Test func `a wait that is cancelled ends, and leaves its place`() async throws {
        let queue = DerivationQueue()
        let (holds, hold) = AsyncStream.makeStream(of: Void.self)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await queue.inTurn(of: "/a") { _ in
                begin.yield()
                for await _ in holds { break }
                return 0
            }
        }
        for await _ in begins { break }
        let second = Task {
            await code { try await queue.inTurn(of: "/a") { _ in 0 } }
        }
        while queue.counts.waiting < 1 { await Task.yield() }
        second.cancel()
        #expect(await second.value == .passcodeBusy)
        #expect(queue.counts == (1, 0))
        hold.yield()
        #expect(try await first.value == 0)
    }

    // Docs/Security.md: C5a
    @Test func `a burst of passcodes derives no more of them than may be tried`() async throws {
        let bench = try VaultBench()
        let set = try bench.tpm.tool("dictionarylockout", "-s", "-n", "100", "-t", "1000", "-l", "1000")
        #expect(set.status == 0, "\(set.errors)")
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        let codes = await withTaskGroup(of: ServiceError.Code?.self) { group in
            for _ in 0..<12 {
                group.addTask { await code { try await vault.verify(secret("9999"), of: "ada") } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == .passcodeWrong } == 5, "\(codes)")
        #expect(
            codes.allSatisfy { [.passcodeWrong, .passcodeThrottled, .passcodeBusy].contains($0) }
        )
        await vault.letGo()
    }

    // Docs/Security.md: C5a
    @Test
    func `wrong application passwords are counted for the user, and a right one gives none of them back`()
        async throws
    {
        let bench = try VaultBench()
        let set = try bench.tpm.tool("dictionarylockout", "-s", "-n", "100", "-t", "1000", "-l", "1000")
        #expect(set.status == 0, "\(set.errors)")
        let vault = try bench.vault()
        let access = AccessControl.biometryAny.withApplicationPassword
        for name in ["own", "other"] {
            try await vault.add(
                secret("x"),
                as: id(.secret, name),
                access: access,
                applicationPassword: secret("pw")
            )
        }
        func open(_ name: String, _ password: String) async -> ServiceError? {
            await failure {
                try await vault.secret(
                    id(.secret, name),
                    shown: finger(),
                    applicationPassword: secret(password)
                )
            }
        }
        for _ in 0..<4 {
            #expect(await open("other", "no")?.code == .applicationPasswordWrong)
            #expect(await open("own", "pw") == nil)
        }
        #expect(await open("other", "no")?.code == .applicationPasswordWrong)
        let sixth = try #require(await open("other", "no"))
        #expect(sixth.code == .applicationPasswordThrottled)
        #expect(sixth.wait > .seconds(3000) && sixth.wait <= .seconds(3600), "\(sixth.wait)")
        await vault.letGo()
    }

    @Test func `an hour gives one application password back`() {
        func moment(_ hours: Int64) -> Moment {
            Moment(bootID: "b", sinceBoot: hours * 3_600_000, wall: hours * 3_600_000)
        }
        var tries = PasscodeTries()
        for _ in 0..<5 { #expect(tries.reserve(in: .applicationPasswords, at: moment(1)) == nil) }
        #expect(tries.reserve(in: .applicationPasswords, at: moment(1)) == .seconds(3600))
        #expect(tries.reserve(in: .applicationPasswords, at: moment(2)) == nil)
        #expect(tries.reserve(in: .applicationPasswords, at: moment(2)) == .seconds(3600))
        #expect(tries.reserve(in: .applicationPasswords, at: moment(12)) == nil)
        #expect(tries.failures == 1)
    }
}
