// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import WhorlStateStore
import Testing
import WhorlService

// Docs/Security.md: S28
@Suite struct `How the tries stand` {
    private func status(
        _ fixture: Fixture,
        _ readers: ReaderClass,
        passcode: any PasscodeAuthority = NoPasscode()
    ) async throws -> AttemptStatus {
        try #require(await fixture.engine(passcode: passcode).attempts().first { $0.readers == readers })
    }

    @Test func `is told where nothing was ever stored, and stores nothing`() async throws {
        let fixture = try Fixture()
        let all = try await fixture.engine().attempts()
        #expect(all.map(\.readers) == [.real, .pretended])
        #expect(all.allSatisfy { $0.remaining == 5 && $0.failures == 0 && $0.lock == .open && !$0.isPending })
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).isEmpty)
    }

    @Test func `is told for each class of readers`() async throws {
        let fixture = try await Fixture.enrolled([.noMatch, .noMatch, .failure(.unplugged)])
        _ = await fixture.evaluate()
        let pretended = try await status(fixture, .pretended)
        #expect(pretended.failures == 2)
        #expect(pretended.remaining == 3)
        #expect(pretended.totalFailures == 2)
        #expect(try await status(fixture, .real).remaining == 5)
    }

    @Test func `tells until when fingers are locked, and the one try after it`() async throws {
        let fixture = try await Fixture.enrolled(Array(repeating: .noMatch, count: 5))
        for _ in 0..<2 { _ = await fixture.evaluate() }
        let locked = try await status(fixture, .pretended)
        #expect(locked.remaining == 0)
        #expect(locked.lockouts == 1)
        guard case .until(let end) = locked.lock else {
            Issue.record("it is not locked for a time: \(locked.lock)")
            return
        }
        let left = end.timeIntervalSince(fixture.clock.time.now().date)
        #expect((300...301).contains(left))
        fixture.clock.advance(.seconds(300))
        let open = try await status(fixture, .pretended)
        #expect(open.lock == .open)
        #expect(open.remaining == 1)
    }

    @Test(arguments: [true, false])
    func `tells that only the passcode ends a lock, also where that cannot be asked`(_ isSet: Bool)
        async throws
    {
        let fixture = try await Fixture.enrolled(Array(repeating: .noMatch, count: 5))
        for _ in 0..<2 { _ = await fixture.evaluate() }
        let authority = UnansweringPasscode(isSetOrUnknown: isSet)
        #expect(try await status(fixture, .pretended, passcode: authority).lock == .untilPasscode)
    }

    @Test func `tells of a scan that was never settled`() async throws {
        let fixture = try await Fixture.enrolled([])
        try await fixture.execute(
            "INSERT INTO attempts (profile, reader_class, pending) VALUES ('owner', 'real', 1)"
        )
        let real = try await status(fixture, .real)
        #expect(real.isPending)
        #expect(real.remaining == 5)
    }

    /// What an edited row can hold, and what it means: never more tries than an empty one, and never the end of the
    /// process.
    @Test(arguments: [
        ("failures = 9223372036854775807", true), ("lockouts = 9223372036854775807, failures = 5", true),
        ("total_failures = 9223372036854775807", false), ("failures = 5, locked_until_boot = 9e999", true),
        ("failures = 5, locked_until_boot = 1e300, locked_until_wall = 1e300, boot_id = 'boot-1'", true),
        ("failures = 5, locked_until_boot = -1e300, locked_until_wall = -1e300, boot_id = 'x'", false),
        (
            "failures = 5, lockouts = 9223372036854775807, locked_until_boot = -9e18, locked_until_wall = 9e18, "
                + "boot_id = ''", false
        ),
    ])
    func `bears numbers at the end of their range in an edited row`(_ edit: String, _ isLocked: Bool)
        async throws
    {
        let fixture = try await Fixture.enrolled([.noMatch, .noMatch, .noMatch])
        try await fixture.execute(
            "INSERT INTO attempts (profile, reader_class) VALUES ('owner', 'pretended')"
        )
        try await fixture.execute("UPDATE attempts SET \(edit)")
        let status = try await status(fixture, .pretended)
        #expect((status.lock != .open) == isLocked)
        #expect((0...5).contains(status.remaining))
        let expected: ServiceError.Code =
            isLocked || status.failures > 2 ? .biometryLockout : .authenticationFailed
        #expect(await fixture.evaluate().code == expected)
    }
}

/// A passcode is set, or it cannot be told whether one is.
private struct UnansweringPasscode: PasscodeAuthority {
    let isSetOrUnknown: Bool

    var isSet: Bool {
        get throws(ServiceError) {
            guard isSetOrUnknown else { throw ServiceError(.storeFailed) }
            return true
        }
    }

    func verify(_ passcode: borrowing SecretBytes) -> PasscodeVerdict { .notSet }
}
