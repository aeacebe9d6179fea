// SPDX-License-Identifier: Apache-2.0

import KeptThings
import SoftwareTPM
import Testing

/// Every access control in every place, after everything that may happen to it: the table says who opens an item, the chip
/// judges, and whatever it says, the item is still there afterwards.
@Suite(.timeLimit(.minutes(20)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Nothing that is kept is lost` {
    // Docs/Security.md: D1
    @Test(arguments: Happening.allCases)
    func `an item opens to whom the table names, and stays whoever was refused`(
        _ happening: Happening
    ) async throws {
        let machine = try await Machine()
        var things: [(thing: KeptThing, row: OpeningRow)] = []
        for row in OpeningRow.table {
            for place in row.places {
                var thing = KeptThing(place, row.access)
                try await thing.make(in: machine.programs[.fingerFirst])
                things.append((thing, row))
            }
        }
        try await machine.change(by: happening)
        for showing in Showing.allCases {
            let program = machine.programs[showing]
            for (thing, row) in things where thing.people(after: happening).contains(showing) {
                let refusal = await thing.refusal(in: program)
                let opens = row.openers(after: happening).contains(showing.rawValue)
                let cell = "\(thing.description), \(showing), \(happening)"
                #expect((refusal == nil) == opens, "\(cell): \(String(describing: refusal))")
                #expect(try await thing.isThere(in: program), "\(cell): it is gone")
            }
            await machine.programs.letGo()
        }
        guard happening == .chipBusy else { return }
        // Once the chip answers again, all is as it was.
        machine.answerAgain()
        let program = machine.programs[.fingerFirst]
        for (thing, _) in things {
            let refusal = await thing.refusal(in: program)
            #expect(refusal == nil, "\(thing.description) later: \(String(describing: refusal))")
        }
        await machine.programs.letGo()
    }
}

extension KeptThing {
    /// Those who try to open it; where the table has the same for all, one of them is enough.
    fileprivate func people(after happening: Happening) -> [Showing] {
        let all: [Showing] =
            switch happening {
            case .nothing, .fingerAdded: Showing.allCases
            case .fingerRemoved: [.finger, .fingerFirst]
            case .otherStart: access.contains("pcrs") ? Showing.allCases : [.fingerFirst]
            case .counterLost: [.finger, .passcode, .fingerFirst]
            case .chipBusy, .chipCleared: [.fingerFirst]
            }
        return all.filter(opensTo)
    }
}
