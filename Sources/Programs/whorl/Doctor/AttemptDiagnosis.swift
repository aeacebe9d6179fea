// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import FoundationEssentials
import WhorlService

/// The checks for a lockout and the number of remaining attempts.
struct AttemptDiagnosis: Sendable {
    private let services: Services

    init(_ session: Session) { services = session.services }

    /// Returns one check for the selected class of readers, and another for the other class if attempts with it have
    /// failed.
    func checks() async -> [Check] {
        let statuses: [AttemptStatus]
        do throws(ServiceError) {
            statuses = try await services.ask(ListAttempts())
        } catch {
            return [.bad("lockout", Failure(error))]
        }
        let meant = await readersMeant()
        return statuses.sorted { $0.readers == meant && $1.readers != meant }.compactMap { status in
            status.readers == meant
                ? Self.check(status, Date())
                : status.failures > 0 ? Self.aside(status, Date()) : nil
        }
    }

    /// Returns the selected class of readers: real readers if no reader is connected or the selection is ambiguous.
    private func readersMeant() async -> ReaderClass {
        // The check of the reader reports why none can be selected.
        guard let reader = try? await services.readers.chosenReader() else { return .real }
        return ReaderClass(await reader.info.kind)
    }

    static func check(_ status: AttemptStatus, _ now: Date) -> Check {
        switch status.lock {
        case .open where status.failures == 0:
            .good("lockout", "Fingers are not locked out; no failed attempt since the last match.")
        case .open:
            .note("lockout", "Fingers are not locked out. \(tries(status)).")
        case .until, .untilPasscode:
            .bad(
                "lockout",
                "Too many touches did not match; \(words(status.lock, now)).",
                remedy: remedy(status.lock)
            )
        }
    }

    /// Returns the check for the class of readers other than the selected one.
    private static func aside(_ status: AttemptStatus, _ now: Date) -> Check {
        let readers = status.readers == .real ? "real readers" : "test readers"
        switch status.lock {
        case .open: return .note("lockout elsewhere", "On \(readers): \(tries(status).lowercasedFirst).")
        case .until, .untilPasscode:
            return .note("lockout elsewhere", "On \(readers) \(words(status.lock, now)).")
        }
    }

    private static func tries(_ status: AttemptStatus) -> String {
        let failed =
            status.failures == 1 ? "One attempt failed" : "\(status.failures) attempts failed in a row"
        let left = status.remaining == 1 ? "one is left" : "\(status.remaining) are left"
        return "\(failed), \(left)"
    }

    private static func words(_ lock: AttemptStatus.Lock, _ now: Date) -> String {
        switch lock {
        case .open: return "fingers are not locked out"
        case .until(let end):
            let isToday = LocalTime.day(end) == LocalTime.day(now)
            return "fingers are locked out until \(isToday ? LocalTime.clock(end) : LocalTime.second(end))"
        case .untilPasscode: return "fingers are locked out until you verify the passcode"
        }
    }

    private static func remedy(_ lock: AttemptStatus.Lock) -> String {
        switch lock {
        case .open: ""
        case .until: "Wait. You then get one attempt; if it fails, the lockout gets longer."
        case .untilPasscode: "whorl passcode verify"
        }
    }
}

extension String {
    /// The text with a lowercase first letter, for use within a sentence.
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
