// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The kinds of the log's lines; the number of lines of each is limited apart from the others.
enum AuditKind: Int, CaseIterable {
    /// A success of an evaluation for which the owner was there.
    case success = 0
    /// A charged try, a wrong passcode, a lockout.
    case attempt = 1
    /// A change of the fingers, the passcode, a program's permission, or the vault, which needs the owner or the system's rules.
    case change = 2
    /// A change of items or of the keychain's rows, or another step that programs take without the owner.
    case item = 3
    /// A request that ended without success.
    case refusal = 4
    /// Any other event.
    case other = 5
    /// A release of something that requires its owner, for which the owner was there.
    case release = 6
    /// A success or a release for which an earlier touch counted, so that a program can have many of them.
    case again = 7
    /// A program's choice for itself, which it makes without the owner: one line for each program.
    case ownChoice = 8

    /// The most lines of a profile; the oldest ones go first.
    var limit: Int {
        switch self {
        case .success, .release: 10_000
        case .change: 5_000
        case .attempt, .item, .refusal, .other, .again, .ownChoice: 2_000
        }
    }

    /// Whether a line that says the same as the one before is only counted.
    var countsRepeats: Bool {
        switch self {
        case .item, .refusal, .other, .again: true
        case .success, .release, .attempt, .change, .ownChoice: false
        }
    }

    /// Whether a program has one line, about its last choice, with the number of its choices.
    ///
    /// A choice and its opposite take turns without end and at no cost, so that no line repeats the one before.
    var keepsLatest: Bool { self == .ownChoice }

    /// The outcomes of a program's choice for itself.
    static let (ownOut, ownIn) = ("ownOut", "ownIn")

    /// The kind of a line.
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

    /// Whether a change is one that programs make without the owner, as often as they like.
    private static func isPrograms(_ change: String) -> Bool {
        change.hasPrefix("item") || change.hasPrefix("row") || change.hasPrefix("reader")
            || ["identityRead", "vaultProvisioned"].contains(change)
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
