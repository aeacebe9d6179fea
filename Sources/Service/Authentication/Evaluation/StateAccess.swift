// SPDX-License-Identifier: Apache-2.0

public import Enrollment
public import StateStore
import Synchronization

/// How the engine comes to its state: nothing is made on the disk before there is something to store.
public struct StateAccess: Sendable {
    /// The database, when something was ever stored; otherwise `nil`.
    package let existing: @Sendable () async throws(StateError) -> StateDatabase?
    /// The database, made when it is not there.
    package let created: @Sendable () async throws(StateError) -> StateDatabase
    /// What counts the generations of the set of enrolled fingers.
    let generations: any GenerationCounter

    /// Takes the state from wherever its caller keeps it.
    ///
    /// Both may be called often and at the same time; they are expected to give the same open database.
    public init(
        generations: any GenerationCounter = SoftwareGeneration(),
        existing: @escaping @Sendable () async throws(StateError) -> StateDatabase?,
        created: @escaping @Sendable () async throws(StateError) -> StateDatabase
    ) {
        self.existing = existing
        self.created = created
        self.generations = generations
    }

    /// There is no state, and none can be made.
    package static let none = StateAccess(
        existing: { () throws(StateError) in nil },
        created: { () throws(StateError) in throw StateError(.failed, path: "", cause: "no state directory") }
    )

    /// Opens a state directory when it is first needed, and keeps it open.
    public init(
        directory: StateDirectory,
        generations: any GenerationCounter = SoftwareGeneration()
    ) {
        let kept = KeptDatabase()
        self.init(
            generations: generations,
            existing: { () throws(StateError) in
                try kept.database { () throws(StateError) in try StateDatabase.openExisting(directory) }
            },
            created: { () throws(StateError) in
                let database = try kept.database { () throws(StateError) in
                    try StateDatabase(directory: directory)
                }
                guard let database else { throw StateError(.failed, path: directory.path) }
                return database
            }
        )
    }
}

/// A database that stays open once it was.
private final class KeptDatabase: Sendable {
    private let kept = Mutex<StateDatabase?>(nil)

    /// The open database, else what `open` opens; that a database is not there yet is not remembered.
    func database(
        _ open: () throws(StateError) -> StateDatabase?
    ) throws(StateError) -> StateDatabase? {
        try kept.withLock { kept throws(StateError) in
            if let database = kept { return database }
            kept = try open()
            return kept
        }
    }
}
