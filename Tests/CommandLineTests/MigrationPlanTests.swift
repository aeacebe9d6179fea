// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint
import WhorlService

@testable import whorl

@Suite struct `The plan of a migration` {
    private func item(
        _ kind: ItemKind,
        _ name: String,
        _ access: AccessControl = .biometryAny,
        _ standing: VaultItem.Standing = .valid
    ) throws -> VaultItem {
        VaultItem(
            id: ItemID(kind, try ItemName(name), of: "ada"),
            access: access,
            createdAt: Date(timeIntervalSince1970: 1),
            standing: standing
        )
    }

    @Test func `moves secrets, and names whatever stays with its reason and remedy`() throws {
        let plan = MigrationPlan(
            own: [
                try item(.key, "signer"), try item(.secret, "wifi"),
                try item(.secret, "lost", .biometryCurrentSet, .enrollmentChanged),
                try item(.secret, "odd", .biometryAny, .tampered),
                try item(.secret, "unsure", .biometryCurrentSet, .unknown),
                try item(.secret, "own", .biometryAny.withApplicationPassword),
            ],
            service: [],
            fingers: [.rightIndex],
            hasPasscode: true
        )
        #expect(plan.moves.map(\.id.name.text) == ["wifi", "unsure"])
        #expect(
            plan.rests.map { "\($0.kind) \($0.name)" } == [
                "finger right-index-finger", "passcode passcode", "key signer", "secret lost", "secret odd",
                "secret own",
            ]
        )
        #expect(plan.rests.allSatisfy { !$0.reason.isEmpty && $0.remedy.hasPrefix("whorl ") })
    }

    @Test func `leaves alone what the service has already, and only a secret of that name`() throws {
        let plan = MigrationPlan(
            own: [try item(.secret, "wifi"), try item(.secret, "signer")],
            service: [try item(.secret, "wifi", .none), try item(.key, "signer")],
            fingers: [],
            hasPasscode: false
        )
        #expect(plan.there == ["wifi"])
        #expect(plan.moves.map(\.id.name.text) == ["signer"])
        #expect(plan.rests == [])
    }
}
