// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// Which programs a person has told not to use fingers, in the table `opt_outs`.
package struct OptOuts: Sendable {
    /// Whose choice.
    package let profile: String

    /// Looks after the choices of a profile.
    package init(profile: String) { self.profile = profile }

    /// Whether a program is opted out.
    package func contains(_ application: ApplicationID, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM opt_outs WHERE profile = ? AND application = ?)"
            ),
            arguments: [profile, application.rawValue]
        ) ?? false
    }

    /// Remembers or forgets a program.
    ///
    /// Doing it twice changes nothing.
    package func set(_ optedOut: Bool, _ application: ApplicationID, in db: Database) throws {
        let change =
            optedOut
            ? "INSERT OR IGNORE INTO opt_outs (profile, application) VALUES (?, ?)"
            : "DELETE FROM opt_outs WHERE profile = ? AND application = ?"
        try db.execute(sql: change, arguments: [profile, application.rawValue])
    }
}
