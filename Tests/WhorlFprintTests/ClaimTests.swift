// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WhorlFprint

/// The claim on a reader, without a bus and without a reader.
@Suite struct `A claim on a reader` {
    private func held(_ action: ClaimState.Action? = nil) throws -> ClaimState {
        var state = ClaimState()
        try state.beginOpening(":1.1", user: "ada")
        try Self.open(&state, stillWanted: true)
        if let action { try state.begin(action) }
        return state
    }

    private static func open(_ state: inout ClaimState, stillWanted: Bool) throws {
        let isWanted = state.endOpening()
        try #require(isWanted == stillWanted)
    }

    private static func leave(_ state: inout ClaimState, _ client: String, frees: Bool) throws {
        let isFreed = state.left(client)
        try #require(isFreed == frees)
    }

    @Test func `keeps every other client out, also while the reader is opened and closed`() throws {
        var state = ClaimState()
        try state.beginOpening(":1.1", user: "ada")
        #expect(throws: FprintError.alreadyInUse) { try state.requireFree() }
        #expect(throws: FprintError.alreadyInUse) { try state.requireHeld(by: ":1.1") }
        try Self.open(&state, stillWanted: true)
        #expect(throws: FprintError.alreadyInUse) { try state.requireHeld(by: ":1.2") }
        try state.requireHeld(by: ":1.1")
        try state.beginClosing(":1.1")
        #expect(throws: FprintError.alreadyInUse) { try state.requireFree() }
        #expect(throws: FprintError.alreadyInUse) { try state.beginClosing(":1.1") }
        state.drop()
        try state.requireFree()
    }

    @Test func `is needed for every action, and the error tells a missing one from another's`() throws {
        #expect(throws: FprintError.claimDevice) { try ClaimState().requireHeld(by: ":1.1") }
        let state = try held()
        #expect(throws: FprintError.alreadyInUse) { try state.requireHeld(by: ":1.2") }
        #expect(throws: FprintError.alreadyInUse) { try state.requireFreeOrHeld(by: ":1.2") }
        try state.requireFreeOrHeld(by: ":1.1")
        try ClaimState().requireFreeOrHeld(by: ":1.2")
    }

    @Test(arguments: [ClaimState.Action.verify, .enroll, .delete])
    func `takes one action at a time, and a finished one counts until it is stopped`(
        _ action: ClaimState.Action
    ) throws {
        var state = try held(action)
        for other in [ClaimState.Action.verify, .enroll, .delete] {
            #expect(throws: FprintError.alreadyInUse) { try state.begin(other) }
        }
        state.end(action)
        try state.begin(.verify)
    }

    @Test func `tells a stop without a start, of the other kind and the second one apart`() throws {
        var state = try held()
        #expect(throws: FprintError.noActionInProgress) { try state.beginStop(.verify) }
        try state.begin(.verify)
        #expect(throws: FprintError.alreadyInUse) { try state.beginStop(.enroll) }
        try state.beginStop(.verify)
        #expect(throws: FprintError.alreadyInUse) { try state.beginStop(.verify) }
        #expect(throws: FprintError.alreadyInUse) { try state.requireIdle() }
        state.end(.verify)
        #expect(throws: FprintError.noActionInProgress) { try state.beginStop(.verify) }
    }

    @Test func `is freed for a client that left, at once or when its reader is open`() throws {
        var state = try held()
        try Self.leave(&state, ":1.2", frees: false)
        try Self.leave(&state, ":1.1", frees: true)

        var opening = ClaimState()
        try opening.beginOpening(":1.1", user: "ada")
        try Self.leave(&opening, ":1.1", frees: false)
        try Self.open(&opening, stillWanted: false)
        try Self.leave(&opening, ":1.1", frees: true)

        var closing = try held()
        try closing.beginClosing(":1.1")
        try Self.leave(&closing, ":1.1", frees: false)
    }

    @Test func `that ends during a deletion keeps the reader from others until the deletion has ended`()
        throws
    {
        var state = try held(.delete)
        try state.beginClosing(":1.1")
        state.drop()
        #expect(throws: FprintError.alreadyInUse) { try state.requireFree() }
        state.end(.delete)
        try state.requireFree()
    }

    @Test func `is not ended by the end of another action`() throws {
        var state = try held(.verify)
        state.end(.enroll)
        #expect(state.action == .verify)
    }

    /// Two clients do whatever comes into their heads; what must hold, holds after each step.
    @Test func `never has two holders and never an action that was not begun`() {
        var generator = SplitMix(state: 7)
        for _ in 0..<200 {
            var state = ClaimState()
            for _ in 0..<60 {
                let client = generator.next() % 2 == 0 ? ":1.1" : ":1.2"
                let before = state
                step(&state, client, generator.next() % 9)
                if let now = state.holder, let then = before.holder { #expect(now.client == then.client) }
                #expect(!state.isStopping || state.action != nil)
            }
        }
    }

    /// Makes one step; a refusal changes nothing.
    private func step(_ state: inout ClaimState, _ client: String, _ number: UInt64) {
        let before = state
        do throws(FprintError) {
            switch number {
            case 0: try state.beginOpening(client, user: "ada")
            case 1: if state.holder?.phase == .opening { _ = state.endOpening() }
            case 2:
                try state.requireHeld(by: client)
                try state.begin(.verify)
            case 3:
                try state.requireHeld(by: client)
                try state.begin(.enroll)
            case 4: try state.beginStop(.verify)
            case 5: state.end(.verify)
            case 6: try state.beginClosing(client)
            case 7: if state.holder?.phase == .closing { state.drop() }
            default: _ = state.left(client)
            }
        } catch {
            #expect(state == before)
        }
    }
}

/// Numbers that are the same in each run.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
