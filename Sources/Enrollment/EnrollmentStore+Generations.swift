// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore

/// What a change makes of the set, and what its caller gets.
struct Change<Value: Sendable>: Sendable {
    /// The enrolled prints after the change.
    let prints: [PrintRow]
    let value: Value
}

extension EnrollmentStore {
    /// How often a read is repeated because another process changed the set at the same moment.
    private static let patience = 100

    /// The profile's set, found authentic and of the generation that the counter has.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    func manifest(of profile: String) async throws(EnrollmentError) -> Manifest {
        let keys = database.keys
        var last: UInt64?
        for _ in 0..<EnrollmentStore.patience {
            let manifest = try await read { try Manifest($0, profile: profile) }
            guard manifest.isAuthentic(keys) else {
                throw EnrollmentError(
                    .enrollmentTampered,
                    cause: "the manifest of generation \(manifest.generation)"
                )
            }
            // Without a generation there never was a print, nor a counter.
            guard manifest.generation > 0 else { return manifest }
            let stored = manifest.generation
            let current = try await generations.current(of: profile, stored: stored)
            if current == stored { return manifest }
            if current == stored - 1 {
                // A crash, or another process that is about to count, between the commit and the count.
                try await generations.advance(profile, to: stored)
                return manifest
            }
            // Read again: the set may have been changed between the two looks. If it was not, it is an older one.
            if last == stored {
                throw EnrollmentError(
                    .enrollmentRolledBack,
                    cause: "generation \(stored), counter \(current)"
                )
            }
            last = stored
        }
        throw EnrollmentError(.store(StateError(.busy, path: database.directory.path)))
    }

    /// Changes the set: rows, generation, history and MAC in one transaction, then the counter.
    ///
    /// - Parameters:
    ///   - profile: Whose set.
    ///   - date: When, for a profile that is new.
    ///   - body: Writes the rows. It gets the enrolled prints, and may run again when another process was faster.
    /// - Returns: The value that `body` gave.
    /// - Throws: what `body` refuses, `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    func change<Value: Sendable>(
        _ profile: String,
        at date: Date,
        _ body: @escaping @Sendable (Database, [PrintRow]) throws -> Result<Change<Value>, EnrollmentError>
    ) async throws(EnrollmentError) -> Value {
        let keys = database.keys
        for _ in 0..<EnrollmentStore.patience {
            let before = try await manifest(of: profile)
            let next = try await generations.current(of: profile, stored: before.generation) + 1
            let outcome: Result<Value?, EnrollmentError> = try await transaction { db in
                let now = try Manifest(db, profile: profile)
                guard now.generation == before.generation, now.mac == before.mac else { return .success(nil) }
                guard now.isAuthentic(keys) else { return .failure(EnrollmentError(.enrollmentTampered)) }
                switch try body(db, now.prints) {
                case .failure(let error): return .failure(error)
                case .success(let change):
                    let after = Manifest(profile: profile, generation: next, mac: nil, prints: change.prints)
                    try after.save(db, keys: keys, at: date)
                    return .success(change.value)
                }
            }
            if let value = try outcome.get() {
                try await generations.advance(profile, to: next)
                return value
            }
        }
        throw EnrollmentError(.store(StateError(.busy, path: database.directory.path)))
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(EnrollmentError) -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw EnrollmentError(.store(error))
        }
    }

    func write<Value: Sendable>(
        _ durability: Durability = .full,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(EnrollmentError) -> Value {
        do {
            return try await database.write(durability, body)
        } catch {
            throw EnrollmentError(.store(error))
        }
    }

    private func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result<Value, EnrollmentError>
    ) async throws(EnrollmentError) -> Result<Value, EnrollmentError> {
        do {
            return try await database.transaction(.full, body)
        } catch {
            throw EnrollmentError(.store(error))
        }
    }
}
