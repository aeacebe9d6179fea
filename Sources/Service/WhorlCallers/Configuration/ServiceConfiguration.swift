// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

/// The administrator's settings for the system service, each of which has a default value.
package struct ServiceConfiguration: Sendable, Hashable {
    /// The path of the configuration file.
    package static let path = "/etc/whorl/whorld.conf"

    /// The programs that show prompts.
    package var agent = AgentPolicy.preferred
    /// The sessions that may prompt for a touch.
    package var touch = SeatPolicy.activeSeatOnly
    /// The number of seconds without a connection after which the service exits; 0 means never.
    package var idleSeconds = 30
    /// The ID of the only reader to use; `nil` for the only connected reader.
    package var reader: String?
    /// The maximum time limit of a caller's request, in seconds.
    package var longestSeconds = 120
    /// The number of failed touches in a row after which fingers are locked out.
    package var tries = AttemptRules.standard.tries
    /// The duration of the first timed lockout, in minutes.
    package var lockMinutes = AttemptRules.standard.firstLockMinutes
    /// The number of seconds since its last use for which a touch unlocks data stored by a program; 0 prompts each
    /// time.
    package var unusedSeconds = ProofLimits.standard.unusedSeconds
    /// The number of seconds for which a touch counts in total.
    package var wholeSeconds = ProofLimits.standard.wholeSeconds
    /// The required strength of each touch, which does not include ``reader``.
    package var strength = TouchStrength.any
    /// The limits for identifying one of several users.
    package var groups = GroupRules()

    /// The rules for failed attempts.
    package var attemptRules: AttemptRules { AttemptRules(tries: tries, firstLockMinutes: lockMinutes) }

    /// The time limits of proofs.
    package var proofLimits: ProofLimits {
        ProofLimits(unusedSeconds: unusedSeconds, wholeSeconds: wholeSeconds)
    }

    package init() {}
}

/// One key of the configuration file.
package struct Setting: Sendable {
    /// The name of the key's group, without brackets.
    package let group: String
    /// The key's name.
    package let key: String
    /// The allowed values, as text for the user.
    package let allowed: String
    /// The default value; empty if there is none.
    package let standard: String
    /// Applies a value; returns `false` if the value is not allowed.
    let take: @Sendable (inout ServiceConfiguration, String) -> Bool

    /// All keys, in the order in which they are documented.
    package static let all: [Setting] = [
        named("Prompt", "Agent", standard: AgentPolicy.preferred, \.agent),
        named("Sessions", "Touch", standard: SeatPolicy.activeSeatOnly, \.touch),
        number("Service", "IdleSeconds", 0...86_400, standard: "30", \.idleSeconds),
        Setting(group: "Reader", key: "Id", allowed: "an ID from `whorl devices`", standard: "") {
            configuration,
            value in
            guard isReader(value) else { return false }
            configuration.reader = value
            return true
        },
        number("Timeout", "LongestSeconds", 10...86_400, standard: "120", \.longestSeconds),
        number("Tries", "Fingers", 1...5, standard: "5", \.tries),
        number("Tries", "LockMinutes", 5...1440, standard: "5", \.lockMinutes),
        number("Touch", "UnusedSeconds", 0...300, standard: "300", \.unusedSeconds),
        number("Touch", "KeptSeconds", 0...3600, standard: "3600", \.wholeSeconds),
        choice("Touch", "Match", "any", "on-chip", \.strength.isMatchedOnChip),
        choice("Touch", "Fingers", "1", "2", \.strength.hasTwoFingers),
        choice("Touch", "Passcode", "no", "yes", \.strength.hasPasscode),
        number("Identify", "People", 0...50, standard: "0", \.groups.mostPeople),
        number("Identify", "StrangerOneIn", 1...1_000_000, standard: "100", \.groups.strangerOneIn),
    ]

    private typealias Place<Value> = any WritableKeyPath<ServiceConfiguration, Value> & Sendable

    /// Creates a key with two allowed words; the first one is the default, and the second one means yes.
    private static func choice(
        _ group: String,
        _ key: String,
        _ no: String,
        _ yes: String,
        _ place: Place<Bool>
    ) -> Setting {
        Setting(group: group, key: key, allowed: "\(no), \(yes)", standard: no) { configuration, word in
            guard word == no || word == yes else { return false }
            configuration[keyPath: place] = word == yes
            return true
        }
    }

    /// Creates a key whose value is the name of an enumeration case.
    private static func named<Value: CaseIterable & RawRepresentable<String> & Sendable>(
        _ group: String,
        _ key: String,
        standard: Value,
        _ place: Place<Value>
    ) -> Setting {
        let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return Setting(group: group, key: key, allowed: allowed, standard: standard.rawValue) {
            configuration,
            word in
            guard let value = Value(rawValue: word) else { return false }
            configuration[keyPath: place] = value
            return true
        }
    }

    /// Creates a key whose value consists only of decimal digits, without a sign or white space.
    private static func number(
        _ group: String,
        _ key: String,
        _ range: ClosedRange<Int>,
        standard: String,
        _ place: Place<Int>
    ) -> Setting {
        let allowed = "\(range.lowerBound) to \(range.upperBound)"
        return Setting(group: group, key: key, allowed: allowed, standard: standard) {
            configuration,
            digits in
            guard digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
                let value = Int(digits), range.contains(value)
            else { return false }
            configuration[keyPath: place] = value
            return true
        }
    }

    /// Returns whether a text can be the ID of a real reader, unlike the script of a mock reader.
    private static func isReader(_ text: String) -> Bool {
        let isPlain = text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
        return !text.isEmpty && text.utf8.count <= 200 && isPlain && !text.hasPrefix("mock")
    }
}
