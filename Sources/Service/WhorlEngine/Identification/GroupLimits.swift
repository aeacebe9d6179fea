// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlFingerprint
import WhorlService

/// The chance that one touch of a stranger is taken for one of several enrolled fingers.
package enum FalseMatchRate {
    /// The comparisons of the measurement, each of a finger with another person's print, and those that matched: libfprint's
    /// comparison with its usual threshold of 40 (Docs/Benchmarks.md, "false match").
    package static let measured = (comparisons: 10_942.0, matches: 2.0)

    /// The rate of one comparison: the upper end of the measured rate, above which it lies in 5 of 100 such measurements.
    ///
    /// It is Poisson's limit for 2 events, 6.296 of them.
    package static let rate = 6.296 / measured.comparisons

    /// Returns the chance among so many prints; `nil` where it is not known.
    ///
    /// It is known for a comparison by this computer with the usual threshold alone. A smaller sensor has a lower threshold, at
    /// which strangers match more often than was measured, and the maker of a reader that compares by itself publishes no figures.
    package static func among(prints: Int, at reader: ReaderStrength) -> Double? {
        switch reader {
        case .minutiaeScore(let threshold) where threshold >= 40: 1 - pow(1 - rate, Double(prints))
        case .minutiaeScore, .onReader: nil
        // What a virtual reader or a mock says is no finger; the figure is that of the usual comparison.
        case .none: 1 - pow(1 - rate, Double(prints))
        }
    }
}

extension ServiceError {
    /// The error of a question about more people than the machine identifies.
    static func tooManyPeople(_ count: Int, _ rules: GroupRules) -> ServiceError {
        ServiceError(
            .invalidContext,
            message: rules.mostPeople == 0
                ? "Identification is disabled on this computer."
                : "This computer identifies one of at most \(rules.mostPeople) users.",
            recovery:
                "Ask for a user name first, then authenticate that user. An administrator can set People in section [Identify].",
            cause: "\(count) people are named"
        )
    }

    /// The error of a question about people for whom a stranger would be taken too often.
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
