// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlFingerprint
import WhorlService

/// The probability that one touch by a stranger is mistaken for one of several enrolled fingers.
package enum FalseMatchRate {
    /// The number of comparisons that were measured, each of a finger with another person's print, and the number that
    /// matched.
    ///
    /// They were made by libfprint with its usual threshold of 40 (Docs/Benchmarks.md, "false match").
    package static let measured = (comparisons: 10_942.0, matches: 2.0)

    /// The false-match rate of one comparison: the upper limit for the measured rate, at a confidence of 95%.
    ///
    /// The Poisson limit for 2 events is 6.296 events.
    package static let rate = 6.296 / measured.comparisons

    /// Returns the probability for a number of prints; `nil` if it is unknown.
    ///
    /// It is known only for comparisons on this computer with the usual threshold. Smaller sensors have a lower
    /// threshold, at which strangers match more often than measured. Manufacturers of readers that match on the chip do
    /// not publish any figures.
    package static func among(prints: Int, at reader: ReaderStrength) -> Double? {
        switch reader {
        case .minutiaeScore(let threshold) where threshold >= 40: 1 - pow(1 - rate, Double(prints))
        case .minutiaeScore, .onReader: nil
        // The result of a virtual reader or a mock says nothing about a finger; this uses the usual comparison's rate.
        case .none: 1 - pow(1 - rate, Double(prints))
        }
    }
}

extension ServiceError {
    /// Returns the error for more users than the machine is allowed to identify.
    static func tooManyPeople(_ count: Int, _ rules: GroupRules) -> ServiceError {
        ServiceError(
            .invalidContext,
            message: rules.mostPeople == 0
                ? "Identification is disabled on this computer."
                : "This computer identifies one of at most \(rules.mostPeople) users.",
            recovery:
                "Ask for a user name first, then authenticate that user. An administrator can set People in section [Identify].",
            cause: "\(count) users are listed"
        )
    }

    /// Returns the error for a group in which a stranger would be mistaken for one of the users too often.
    static func strangersMatchTooOften(_ chance: Double?, _ rules: GroupRules) -> ServiceError {
        let figure = chance.flatMap { Int(exactly: (1 / $0).rounded(.down)) }.map { "one in \($0)" }
        return ServiceError(
            .invalidContext,
            message: figure.map {
                "With this many fingers, \($0) touches by strangers would be mistaken for one of the users."
            }
                ?? "The rate of false matches with this reader is unknown.",
            recovery:
                "List fewer users, or ask for a user name first. An administrator can set StrangerOneIn in section [Identify].",
            cause: "the limit is one in \(rules.strangerOneIn)"
        )
    }
}
