// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import KeptThings

/// What is kept on a machine after a row of steps: all that was acknowledged, and of what was not, what a look has shown.
struct KeepingModel {
    /// One thing, and how often the set of fingers had changed when it was made.
    struct Kept {
        let thing: KeptThing
        let set: Int
    }

    /// The table's cells, in the order in which they are made.
    private let cells: [KeptThing]
    private var next = 0
    private(set) var kept: [String: Kept] = [:]
    /// How often the set of fingers has changed.
    private(set) var set = 0
    private(set) var fingers: Set<Finger> = Self.owned
    /// The cells that no step has made yet.
    private(set) var unmade: Set<String>

    private static let owned: Set<Finger> = [.leftIndex, .rightIndex]

    init(_ generator: inout some RandomNumberGenerator) {
        cells = OpeningRow.table.flatMap { row in row.places.map { KeptThing($0, row.access) } }
            .shuffled(using: &generator)
        unmade = Set(cells.map(\.description))
    }

    /// The people to whom the table opens it now.
    func openers(of kept: Kept) -> [Showing] {
        let happening: Happening = kept.set == set ? .nothing : .fingerAdded
        let row = OpeningRow.table.first {
            $0.access == kept.thing.access && $0.places.contains(kept.thing.place)
        }
        let openers = row?.openers(after: happening) ?? ""
        return Showing.allCases.filter { openers.contains($0.rawValue) && kept.thing.opensTo($0) }
    }

    /// A step that succeeds when the program is not killed.
    mutating func anyStep(_ generator: inout some RandomNumberGenerator) -> KeepingStep {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            let thumb = Finger.leftThumb
            return fingers.contains(thumb) ? .removeFinger(thumb.rawValue) : .addFinger(thumb.rawValue)
        case 1, 2: return anyKept(&generator).map { .delete($0.thing) } ?? nextMake()
        case 3, 4, 5:
            guard let kept = anyKept(&generator) else { return nextMake() }
            let opener = openers(of: kept).randomElement(using: &generator)
            return opener.map { .open(kept.thing, by: $0) } ?? nextMake()
        default: return nextMake()
        }
    }

    private func anyKept(_ generator: inout some RandomNumberGenerator) -> Kept? {
        kept.keys.sorted().randomElement(using: &generator).flatMap { kept[$0] }
    }

    /// The next cell that is empty is filled; the next one is emptied when all are full.
    private mutating func nextMake() -> KeepingStep {
        for _ in cells {
            next = (next + 1) % cells.count
            if kept[cells[next].description] == nil { return .make(cells[next]) }
        }
        return .delete(kept[cells[next].description]?.thing ?? cells[next])
    }

    /// Takes a step for done.
    mutating func apply(_ step: KeepingStep) {
        switch step {
        case .make(let thing):
            kept[thing.description] = Kept(thing: thing, set: set)
            unmade.remove(thing.description)
        case .delete(let thing): kept[thing.description] = nil
        case .open: break
        case .addFinger, .removeFinger:
            fingers.formSymmetricDifference([.leftThumb])
            set += 1
        }
    }
}

extension KeepingStep {
    /// The thing that the step is about.
    var thing: KeptThing? {
        switch self {
        case .make(let thing), .open(let thing, _), .delete(let thing): thing
        case .addFinger, .removeFinger: nil
        }
    }

    /// Steps of one kind take about the same time.
    var kind: String {
        switch self {
        case .make(let thing): "make \(thing.place)"
        case .open(let thing, _): "open \(thing.place)"
        case .delete(let thing): "delete \(thing.place)"
        case .addFinger: "add a finger"
        case .removeFinger: "remove a finger"
        }
    }

    /// Whether an application password is compared or set in it.
    var hasApplicationPassword: Bool { words.contains("application-password") }

    var words: String {
        if case .open(_, let showing) = self { return "\(kind) \(thing?.access ?? ""), \(showing)" }
        return "\(kind) \(thing?.access ?? "")"
    }
}
