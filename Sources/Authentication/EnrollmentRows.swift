// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import GRDB
import StateStore

/// What an evaluation asks of the enrolled prints inside its own transaction, so that a match and what
/// follows from it are one step.
///
/// The prints and their authenticity are the business of the Enrollment module.
enum EnrollmentRows {
    /// Whether the print of a match is enrolled and the set is that of the match's generation.
    static func isEnrolled(_ match: ReusableMatch, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM prints JOIN profiles ON profiles.name = prints.profile
                    WHERE prints.id = ? AND prints.profile = ? AND prints.state = 'enrolled'
                        AND profiles.generation = ?
                )
                """
        )
        return try Bool.fetchOne(
            statement,
            arguments: [match.print.description, match.profile, Int64(bitPattern: match.generation)]
        ) ?? false
    }

    /// Remembers when a print matched last, which puts it first in the next gallery.
    ///
    /// - Returns: Whether it was remembered; `false` when the print or the generation is not the match's.
    static func noteMatch(_ match: ReusableMatch, at now: Moment, in db: Database) throws -> Bool {
        guard try isEnrolled(match, in: db) else { return false }
        try db.cachedStatement(sql: "UPDATE prints SET last_matched_at = ? WHERE id = ?")
            .execute(arguments: [seconds(now.wall), match.print.description])
        return true
    }
}
