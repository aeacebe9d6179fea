// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The kinds of log lines, each of which has a separate limit.
enum AuditKind: Int, CaseIterable {
    /// A successful evaluation in which the owner was present.
    case success = 0
    /// A counted attempt, a wrong passcode or a lockout.
    case attempt = 1
    /// A change of the fingers, the passcode, a program's permission or the vault, which requires the owner or the
    /// system's rules.
    case change = 2
    /// A change of items or keychain rows, or another operation that programs perform without the owner.
    case item = 3
    /// A request that failed.
    case refusal = 4
    /// Any other event.
    case other = 5
    /// A release of something that requires its owner, for which the owner was present.
    case release = 6
    /// A success or release that reused an earlier touch, of which a program can cause many.
    case again = 7
    /// A program's choice for itself, made without the owner; each program has only one such line.
    case ownChoice = 8

    /// The maximum number of lines of this kind in a profile; the oldest ones are deleted first.
    var limit: Int {
        switch self {
        case .success, .release: 10_000
        case .change: 5_000
        case .attempt, .item, .refusal, .other, .again, .ownChoice: 2_000
        }
    }

    /// Whether a line that repeats the previous one only increases that line's count.
    var countsRepeats: Bool {
        switch self {
        case .item, .refusal, .other, .again: true
        case .success, .release, .attempt, .change, .ownChoice: false
        }
    }

    /// Whether each program has only one line, which contains its latest choice and the number of choices.
    ///
    /// Otherwise, a program could keep alternating between a choice and its opposite, and lines would never repeat the
    /// previous one.
    var keepsLatest: Bool { self == .ownChoice }

    /// The outcomes that record a program's choice for itself.
    static let (ownOut, ownIn) = ("ownOut", "ownIn")

    /// Determines the kind of a log line.
    init(of entry: AuditEntry) {
        self =
            switch entry.event {
            case .evaluation where entry.outcome == "reused": .again
            case .evaluation: Self.successes.contains(entry.outcome) ? .success : .refusal
            case .release: entry.outcome == "released" ? .release : .again
            case .failedTry, .lockout, .reader: .attempt
            case .passcode: entry.outcome == "throttled" ? .refusal : .attempt
            case .optOut: [Self.ownOut, Self.ownIn].contains(entry.outcome) ? .ownChoice : .change
            case .change: Self.isPrograms(entry.outcome) ? .item : .change
            default: .other
            }
    }

    /// Returns whether programs can make a change without the owner any number of times.
    private static func isPrograms(_ change: String) -> Bool {
        change.hasPrefix("item") || change.hasPrefix("row") || change.hasPrefix("reader")
            || ["identityRead", "vaultProvisioned"].contains(change)
    }

    private static let successes: Set<String> = ["matched", "passcode", "account", "identified"]
}

extension AuditEntry {
    /// Returns whether a line repeats an earlier one, ignoring the time and the process ID.
    func repeats(_ other: AuditEntry) -> Bool {
        profile == other.profile && event == other.event && outcome == other.outcome
            && finger == other.finger && reader == other.reader
            && asker?.withoutProcess == other.asker?.withoutProcess
            // By bytes: names that look alike may belong to two programs.
            && application.utf8.elementsEqual(other.application.utf8)
            && (detail ?? "").utf8.elementsEqual((other.detail ?? "").utf8)
            && (asker?.confinedAs ?? "").utf8.elementsEqual((other.asker?.confinedAs ?? "").utf8)
    }
}

extension Asker {
    /// The program, without the process ID.
    fileprivate var withoutProcess: Asker {
        Asker(user: user, confinedAs: confinedAs, process: process, unit: unit, session: session)
    }
}
