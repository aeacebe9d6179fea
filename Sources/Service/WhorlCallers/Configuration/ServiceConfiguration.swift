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
        Setting(
            group: "Prompt",
            key: "Agent",
            allowed: words(AgentPolicy.self),
            standard: AgentPolicy.preferred.rawValue
        ) { configuration, value in named(value, &configuration.agent) },
        Setting(
            group: "Sessions",
            key: "Touch",
            allowed: words(SeatPolicy.self),
            standard: SeatPolicy.activeSeatOnly.rawValue
        ) { configuration, value in named(value, &configuration.touch) },
        Setting(group: "Service", key: "IdleSeconds", allowed: "0 to 86400", standard: "30") {
            configuration,
            value in number(value, 0...86_400, &configuration.idleSeconds)
        },
        Setting(group: "Reader", key: "Id", allowed: "an id from `whorl devices`", standard: "") {
            configuration,
            value in
            guard isReader(value) else { return false }
            configuration.reader = value
            return true
        },
        Setting(group: "Timeout", key: "LongestSeconds", allowed: "10 to 86400", standard: "120") {
            configuration,
            value in number(value, 10...86_400, &configuration.longestSeconds)
        },
        Setting(group: "Tries", key: "Fingers", allowed: "1 to 5", standard: "5") {
            configuration,
            value in number(value, 1...5, &configuration.tries)
        },
        Setting(group: "Tries", key: "LockMinutes", allowed: "5 to 1440", standard: "5") {
            configuration,
            value in number(value, 5...1440, &configuration.lockMinutes)
        },
        Setting(group: "Touch", key: "UnusedSeconds", allowed: "0 to 300", standard: "300") {
            configuration,
            value in number(value, 0...300, &configuration.unusedSeconds)
        },
        Setting(group: "Touch", key: "KeptSeconds", allowed: "0 to 3600", standard: "3600") {
            configuration,
            value in number(value, 0...3600, &configuration.wholeSeconds)
        },
        Setting(group: "Touch", key: "Match", allowed: "any, on-chip", standard: "any") {
            configuration,
            value in choice(value, "any", "on-chip", &configuration.strength.isMatchedOnChip)
        },
        Setting(group: "Touch", key: "Fingers", allowed: "1, 2", standard: "1") {
            configuration,
            value in choice(value, "1", "2", &configuration.strength.hasTwoFingers)
        },
        Setting(group: "Touch", key: "Passcode", allowed: "no, yes", standard: "no") {
            configuration,
            value in choice(value, "no", "yes", &configuration.strength.hasPasscode)
        },
        Setting(group: "Identify", key: "People", allowed: "0 to 50", standard: "0") {
            configuration,
            value in number(value, 0...50, &configuration.groups.mostPeople)
        },
        Setting(group: "Identify", key: "StrangerOneIn", allowed: "1 to 1000000", standard: "100") {
            configuration,
            value in number(value, 1...1_000_000, &configuration.groups.strangerOneIn)
        },
    ]

    /// Takes one of two words, of which the second says yes.
    private static func choice(_ word: String, _ no: String, _ yes: String, _ place: inout Bool) -> Bool {
        guard word == no || word == yes else { return false }
        place = word == yes
        return true
    }

    private static func words<Value: CaseIterable & RawRepresentable<String>>(_: Value.Type) -> String {
        Value.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static func named<Value: RawRepresentable<String>>(_ word: String, _ place: inout Value) -> Bool {
        guard let value = Value(rawValue: word) else { return false }
        place = value
        return true
    }

    /// Takes decimal digits alone: no sign, no white space.
    private static func number(_ digits: String, _ range: ClosedRange<Int>, _ place: inout Int) -> Bool {
        guard digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let value = Int(digits), range.contains(value)
        else { return false }
        place = value
        return true
    }

    /// Whether a text can be a real reader's id; a script of a mock is none.
    private static func isReader(_ text: String) -> Bool {
        let isPlain = text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
        return !text.isEmpty && text.utf8.count <= 200 && isPlain && !text.hasPrefix("mock")
    }
}
