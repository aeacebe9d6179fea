// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
internal import WhorlService

/// The parts of the machine that an environment observes.
struct ObservedMachine: Sendable {
    private let owner: any OwnerService
    private let application: ApplicationID
    /// Returns numbers that differ after each change of the state by any process.
    ///
    /// It is cheaper than reading what changed, which may access the chip. `nil` counts as a change.
    let mark: @Sendable () async -> [Int]?
    /// An event for each reader that comes or goes.
    let readerEvents: @Sendable () async -> AsyncStream<Void>

    /// Keeps only the parts that it needs, since the whole `ContextParts` would retain the environment.
    init(_ parts: ContextParts) {
        owner = parts.owner
        application = parts.application
        mark = parts.changeMark
        readerEvents = parts.readerEvents
    }

    /// Returns the current state of the machine.
    func state() async -> LAEnvironment.State {
        LAEnvironment.State(await owner.preflight(.biometrics, for: application))
    }
}

/// A series of looks at the machine that skips the ones that would find nothing new.
struct MachineLook: Sendable {
    let machine: ObservedMachine
    private var mark: [Int]?
    private(set) var state: LAEnvironment.State

    /// Takes the first look.
    init(_ machine: ObservedMachine) async {
        self.machine = machine
        // The mark is read first: the next look then finds any change in between.
        mark = await machine.mark()
        state = await machine.state()
    }

    /// Takes the next look.
    ///
    /// - Parameter surely: Whether to read the state even if the database has not changed.
    /// - Returns: The previous state if the state has changed, else `nil`.
    mutating func next(surely: Bool) async -> LAEnvironment.State? {
        let before = (mark: mark, state: state)
        mark = await machine.mark()
        // A lockout may end by time, which does not change the database.
        guard surely || mark == nil || mark != before.mark || before.state.biometry?.isLockedOut == true
        else { return nil }
        state = await machine.state()
        return state == before.state ? nil : before.state
    }
}
