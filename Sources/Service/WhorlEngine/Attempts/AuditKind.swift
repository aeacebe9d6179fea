// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The kinds of the log's lines; the number of lines of each is limited apart from the others.
enum AuditKind: Int, CaseIterable {
    /// A success of an evaluation for which the owner was there.
    case success = 0
    /// A charged try, a wrong passcode, a lockout.
    case attempt = 1
    /// A change of the fingers, the passcode, a program's permission, or the vault.
    case change = 2
    /// A change of items or of the keychain's rows, which programs make without the owner.
    case item = 3
    /// A request that ended without success.
    case refusal = 4
    /// Any other event.
    case other = 5
    /// A release of something that requires its owner, for which the owner was there.
    case release = 6
    /// A success or a release for which an earlier touch counted, so that a program can have many of them.
    case again = 7

    /// The most lines of a profile; the oldest ones go first.
    var limit: Int {
        switch self {
        case .success, .release: 10_000
        case .change: 5_000
        case .attempt, .item, .refusal, .other, .again: 2_000
        }
    }

    /// Whether a line that says the same as the one before is only counted.
    var countsRepeats: Bool {
        switch self {
        case .item, .refusal, .other, .again: true
        case .success, .release, .attempt, .change: false
        }
    }

    /// The kind of a line.
    init(of entry: AuditEntry) {
        self =
            switch entry.event {
            case .evaluation where entry.outcome == "reused": .again
            case .evaluation: Self.successes.contains(entry.outcome) ? .success : .refusal
            case .release: entry.outcome == "released" ? .release : .again
            case .failedTry, .lockout, .reader: .attempt
            case .passcode: entry.outcome == "throttled" ? .refusal : .attempt
            case .optOut: .change
            case .change: entry.outcome.hasPrefix("item") || entry.outcome.hasPrefix("row") ? .item : .change
            default: .other
            }
    }

    private static let successes: Set<String> = ["matched", "passcode", "account", "identified"]
}

extension AuditEntry {
    /// Whether a line says the same as an earlier one, except for the time and the number of the process.
    func repeats(_ other: AuditEntry) -> Bool {
        profile == other.profile && event == other.event && outcome == other.outcome
            && finger == other.finger && reader == other.reader
            && asker?.withoutProcess == other.asker?.withoutProcess
            // By bytes: names that look alike are two programs.
            && application.utf8.elementsEqual(other.application.utf8)
            && (detail ?? "").utf8.elementsEqual((other.detail ?? "").utf8)
            && (asker?.confinedAs ?? "").utf8.elementsEqual((other.asker?.confinedAs ?? "").utf8)
    }
}

extension Asker {
    /// The program, whichever of its processes it is.
    fileprivate var withoutProcess: Asker {
        Asker(user: user, confinedAs: confinedAs, process: process, unit: unit, session: session)
    }
}
