// SPDX-License-Identifier: Apache-2.0

public import WhorlEnrollment
public import StateStore
import Synchronization
public import WhorlService

/// The engine's access to its state; no file is made before data must be stored.
public struct StateAccess: Sendable {
    /// Returns the database, or `nil` if nothing was ever stored.
    package let existing: @Sendable () async throws(StateError) -> StateDatabase?
    /// Returns the database, which is made if it does not exist.
    package let created: @Sendable () async throws(StateError) -> StateDatabase
    /// The counter of the generations of the set of enrolled fingers.
    let generations: any GenerationCounter

    /// Makes access to a state that the caller keeps.
    ///
    /// Both functions may be called often and at the same time; they must return the same open database.
    public init(
        generations: any GenerationCounter = SoftwareGeneration(),
        existing: @escaping @Sendable () async throws(StateError) -> StateDatabase?,
        created: @escaping @Sendable () async throws(StateError) -> StateDatabase
    ) {
        self.existing = existing
        self.created = created
        self.generations = generations
    }

    /// Access without a state, which cannot be made either.
    package static let none = StateAccess(
        existing: { () throws(StateError) in nil },
        created: { () throws(StateError) in throw StateError(.failed, path: "", cause: "no state directory") }
    )

    /// Makes access to a state directory, which is opened at the first use and kept open.
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

/// A database that stays open after it was opened.
private final class KeptDatabase: Sendable {
    private let kept = Mutex<StateDatabase?>(nil)

    /// Returns the open database, or else the result of `open`, which is kept unless it is `nil`.
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
