// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

/// The choices of a machine's administrator for the system's service; each has a default.
package struct ServiceConfiguration: Sendable, Hashable {
    /// The path of the file with the choices.
    package static let path = "/etc/whorl/whorld.conf"

    /// The programs that show prompts.
    package var agent = AgentPolicy.preferred
    /// The sessions in which a touch is asked for.
    package var touch = SeatPolicy.activeSeatOnly
    /// The seconds without a connection after which the service leaves; 0 stays.
    package var idleSeconds = 30
    /// The id of the only reader that is taken; `nil` takes the only one that is connected.
    package var reader: String?
    /// The longest time limit that a caller's request has, in seconds.
    package var longestSeconds = 120
    /// The number of failed touches in a row that locks fingers.
    package var tries = AttemptRules.standard.tries
    /// The length in minutes of the first lock of fingers that ends by time.
    package var lockMinutes = AttemptRules.standard.firstLockMinutes
    /// The seconds after its last use for which a touch for what a program stored counts; 0 asks each time.
    package var unusedSeconds = ProofLimits.standard.unusedSeconds
    /// The seconds after the touch for which it counts.
    package var wholeSeconds = ProofLimits.standard.wholeSeconds
    /// The strength that each touch must have; ``reader`` is not part of it.
    package var strength = TouchStrength.any
    /// The limits for identifying one of several people.
    package var groups = GroupRules()

    /// The rules for failed tries.
    package var attemptRules: AttemptRules { AttemptRules(tries: tries, firstLockMinutes: lockMinutes) }

    /// The time limits of proofs.
    package var proofLimits: ProofLimits {
        ProofLimits(unusedSeconds: unusedSeconds, wholeSeconds: wholeSeconds)
    }

    package init() {}
}

/// One key of the file.
package struct Setting: Sendable {
    /// The group's name, without brackets.
    package let group: String
    /// The key's name.
    package let key: String
    /// The values that are allowed, for people.
    package let allowed: String
    /// The value that counts without the key; empty for none.
    package let standard: String
    /// Takes a value over; `false` for one that is not allowed.
    let take: @Sendable (inout ServiceConfiguration, String) -> Bool

    /// All keys, in the order of the documentation.
    package static let all: [Setting] = [
        named("Prompt", "Agent", standard: AgentPolicy.preferred, \.agent),
        named("Sessions", "Touch", standard: SeatPolicy.activeSeatOnly, \.touch),
        number("Service", "IdleSeconds", 0...86_400, standard: "30", \.idleSeconds),
        Setting(group: "Reader", key: "Id", allowed: "an id from `whorl devices`", standard: "") {
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

    /// A key that takes one of two words, of which the second says yes, and the first counts without the key.
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

    /// A key that takes the name of one value.
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

    /// A key that takes decimal digits alone: no sign, no white space.
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

    /// Whether a text can be a real reader's id; a script of a mock is none.
    private static func isReader(_ text: String) -> Bool {
        let isPlain = text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
        return !text.isEmpty && text.utf8.count <= 200 && isPlain && !text.hasPrefix("mock")
    }
}
