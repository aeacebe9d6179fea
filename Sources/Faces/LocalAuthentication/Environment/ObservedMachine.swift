// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import StateStore

/// What an environment looks at.
struct ObservedMachine: Sendable {
    private let service: any AuthenticationService
    private let application: ApplicationID
    private let database: StateAccess
    /// An event for each reader that comes or goes.
    let readerEvents: @Sendable () async -> AsyncStream<Void>

    /// Takes what it needs, and not the surroundings as a whole: they keep the environment.
    init(_ parts: ContextParts) {
        service = parts.service
        application = parts.application
        database = parts.state
        readerEvents = parts.readerEvents
    }

    /// What the machine is like now.
    func state() async -> LAEnvironment.State {
        LAEnvironment.State(await service.preflight(.biometrics, for: application))
    }

    /// A mark of the database that is another one after each change by anybody.
    ///
    /// It is cheaper than a look at what changed, which may ask the chip. `nil` where there is no database to ask, which is as
    /// good as a change.
    func mark() async -> [Int]? {
        guard let database = try? await database.existing() else { return nil }
        return try? await database.changeMark()
    }
}

/// One look after the other, where one that would find nothing new is left out.
struct MachineLook: Sendable {
    let machine: ObservedMachine
    private var mark: [Int]?
    private(set) var state: LAEnvironment.State

    /// Looks for the first time.
    init(_ machine: ObservedMachine) async {
        self.machine = machine
        // The mark comes first: what changes in between is found by the next look.
        mark = await machine.mark()
        state = await machine.state()
    }

    /// Looks again.
    ///
    /// - Parameter surely: Whether something besides the database has changed.
    /// - Returns: The state before, where it is another one now.
    mutating func next(surely: Bool) async -> LAEnvironment.State? {
        let before = (mark: mark, state: state)
        mark = await machine.mark()
        // A lock may end by time, which changes nothing in the database.
        guard surely || mark == nil || mark != before.mark || before.state.biometry?.isLockedOut == true
        else { return nil }
        state = await machine.state()
        return state == before.state ? nil : before.state
    }
}
