// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlStateStore
import Testing
import WhorlFingerprint
import WhorlService

@testable import WhorlEnrollment

/// A print in a reader that another program could open is not its owner's any longer.
@Suite struct `A print in a reader` {
    private let fixture: Fixture
    /// The time at which the reader was found open.
    private let found = Date(timeIntervalSince1970: 5_000)

    init() throws { fixture = try Fixture() }

    private func store(foundOpen: Bool = false) -> EnrollmentStore {
        let found = foundOpen ? found : .distantPast
        return EnrollmentStore(
            database: fixture.database,
            generations: SoftwareGeneration(),
            trust: .closedReaders { $0.enrolledAt <= found }
        )
    }

    private func add(
        _ access: ReaderAccess.State,
        _ storage: ReaderInfo.Storage = .reader,
        _ finger: Finger = .rightIndex,
        at seconds: Double = 1_000
    ) async throws {
        try await fixture.add(
            finger,
            finger.rawValue,
            reader: .test(storage: storage, access: access),
            at: seconds
        )
    }

    private func fault(_ store: EnrollmentStore) async throws -> ServiceError.Code? {
        try await store.status(of: "ada").fault?.code
    }

    @Test func `counts if the reader was closed when it was enrolled`() async throws {
        try await add(.closed)
        #expect(try await store().fingers(of: "ada").first?.access == .closed)
        #expect(try await fault(store()) == nil)
    }

    // Docs/Security.md: C1b
    @Test(arguments: [ReaderAccess.State.open, .unknown])
    func `does not count if others could open the reader, or no one knows`(access: ReaderAccess.State)
        async throws
    {
        try await add(access)
        let error = await failure {
            try await store().gallery(of: "ada", on: ReaderInfo.test().id)
        }
        #expect(error?.code == .readerWasOpen)
        #expect(try await fault(store()) == .readerWasOpen)
        // An engine in a program of the user, who can open the reader, has no better print.
        #expect(try await fault(fixture.store) == nil)
    }

    // Docs/Security.md: C1b
    @Test func `does not count after the reader was found open, until it is enrolled again`() async throws {
        try await add(.closed)
        #expect(try await fault(store(foundOpen: true)) == .readerWasOpen)
        _ = try await FingerEnroller(store: store(foundOpen: true), counter: TouchBook())
            .remove(.all, profile: "ada", readers: [], force: true, consent: nil)
        try await add(.closed, at: 6_000)
        #expect(try await fault(store(foundOpen: true)) == nil)
    }

    @Test func `counts whatever others could open, where this computer compares`() async throws {
        try await add(.open, .host)
        #expect(try await fault(store(foundOpen: true)) == nil)
    }

    // Docs/Security.md: C1b
    @Test func `is not accepted with the passcode, which does not say whose finger the reader matches`()
        async throws
    {
        try await fixture.tamper("INSERT INTO vault_passcodes VALUES ('ada', x'', x'', 0, x'')")
        try await add(.open)
        try await add(.closed, .reader, .leftThumb)
        let store = store()
        let consent = OwnerConsent(to: .accept, in: try await store.status(of: "ada"), by: .passcode)
        let accepted = try await FingerEnroller(store: store, counter: TouchBook())
            .accept(profile: "ada", consent: consent)
        #expect(accepted?.kept.map(\.finger) == [.leftThumb])
        #expect(accepted?.removed.map(\.finger) == [.rightIndex])
        #expect(try await fault(store) == nil)
    }

    // Docs/Security.md: C1b
    @Test func `that is edited to have been enrolled while the reader was closed is tampered with`()
        async throws
    {
        try await add(.open)
        try await fixture.tamper("UPDATE prints SET access = 'closed'")
        #expect(try await fault(store()) == .enrollmentTampered)
    }

    @Test func `is enrolled while the reader is closed only if it is closed at both ends`() {
        #expect(ReaderAccess.State.closed.and(.closed) == .closed)
        #expect(ReaderAccess.State.closed.and(.open) == .open)
        #expect(ReaderAccess.State.open.and(.closed) == .open)
        #expect(ReaderAccess.State.closed.and(.unknown) == .unknown)
    }
}
