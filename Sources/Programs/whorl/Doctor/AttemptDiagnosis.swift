// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import FoundationEssentials
import WhorlService

/// The checks whether fingers are locked, and how many tries are left.
struct AttemptDiagnosis: Sendable {
    private let services: Services

    init(_ session: Session) { services = session.services }

    /// Returns one check for the chosen kind of reader, and one for the other kind if tries have failed on it.
    func checks() async -> [Check] {
        let standings: [AttemptStanding]
        do throws(AuthenticationError) {
            standings = try await services.maintenance.attempts()
        } catch {
            return [.bad("lockout", Failure(error))]
        }
        let meant = await readersMeant()
        return standings.sorted { $0.readers == meant && $1.readers != meant }.compactMap { standing in
            standing.readers == meant
                ? Self.check(standing, Date())
                : standing.failures > 0 ? Self.aside(standing, Date()) : nil
        }
    }

    /// Returns the chosen kind of reader; real readers if none is connected or the choice is unclear.
    private func readersMeant() async -> ReaderClass {
        // The check of the reader reports why none can be chosen.
        guard let reader = try? await services.readers.chosenReader() else { return .real }
        return ReaderClass(await reader.info.kind)
    }

    static func check(_ standing: AttemptStanding, _ now: Date) -> Check {
        switch standing.lock {
        case .open where standing.failures == 0:
            .good("lockout", "Fingers are not locked; no try has failed since the last match.")
        case .open:
            .note("lockout", "Fingers are not locked. \(tries(standing)).")
        case .until, .untilPasscode:
            .bad(
                "lockout",
                "Too many fingers did not match; \(words(standing.lock, now)).",
                remedy: remedy(standing.lock)
            )
        }
    }

    /// Returns the check for readers of the kind that is not chosen now.
    private static func aside(_ standing: AttemptStanding, _ now: Date) -> Check {
        let readers = standing.readers == .real ? "real readers" : "pretended readers"
        switch standing.lock {
        case .open: return .note("lockout elsewhere", "On \(readers): \(tries(standing).lowercasedFirst).")
        case .until, .untilPasscode:
            return .note("lockout elsewhere", "On \(readers) \(words(standing.lock, now)).")
        }
    }

    private static func tries(_ standing: AttemptStanding) -> String {
        let failed =
            standing.failures == 1 ? "One try has failed" : "\(standing.failures) tries have failed in a row"
        let left = standing.remaining == 1 ? "one is left" : "\(standing.remaining) are left"
        return "\(failed), \(left)"
    }

    private static func words(_ lock: AttemptStanding.Lock, _ now: Date) -> String {
        switch lock {
        case .open: return "fingers are not locked"
        case .until(let end):
            let isToday = LocalTime.day(end) == LocalTime.day(now)
            return "fingers are locked until \(isToday ? LocalTime.clock(end) : LocalTime.second(end))"
        case .untilPasscode: return "fingers are locked until the passcode is verified"
        }
    }

    private static func remedy(_ lock: AttemptStanding.Lock) -> String {
        switch lock {
        case .open: ""
        case .until: "Wait; then one try is free, and a failed one locks for longer."
        case .untilPasscode: "whorl passcode verify"
        }
    }
}

extension String {
    /// The text for the middle of a sentence.
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
