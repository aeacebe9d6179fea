// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint
internal import Foundation

/// One act of a program, as a line of JSON between a test and the program that it kills (`KeepingProbe`).
package enum KeepingStep: Codable, Sendable {
    case make(KeptThing)
    case open(KeptThing, by: Showing)
    case delete(KeptThing)
    /// The finger's name is `Finger.rawValue`.
    case addFinger(String)
    case removeFinger(String)

    /// What the act has given; it is told only when the act has ended.
    package struct Outcome: Codable, Sendable {
        /// The thing that was made, with the bytes that the program keeps itself.
        package var made: KeptThing?
        /// Why it failed.
        package var refusal: String?
    }

    /// Does it.
    package func run(on programs: Programs) async -> Outcome {
        do {
            switch self {
            case .make(var thing):
                try await thing.make(in: programs[.fingerFirst])
                return Outcome(made: thing)
            case .open(let thing, let showing):
                return Outcome(refusal: await thing.refusal(in: programs[showing]).map { "\($0)" })
            case .delete(let thing): try await thing.delete(in: programs[.fingerFirst])
            case .addFinger(let name): try await programs.add(try Self.finger(name))
            case .removeFinger(let name): try await programs.remove(try Self.finger(name))
            }
            return Outcome()
        } catch {
            return Outcome(refusal: "\(error)")
        }
    }

    private static func finger(_ name: String) throws -> Finger {
        guard let finger = Finger(rawValue: name) else { throw NoSuchFinger(name: name) }
        return finger
    }

    private struct NoSuchFinger: Error { let name: String }
}
