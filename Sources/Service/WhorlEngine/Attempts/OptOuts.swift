// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import WhorlService

/// The programs that a person has told not to use fingers, in the table `opt_outs`.
package struct OptOuts: Sendable {
    /// The profile that the choices belong to.
    package let profile: String

    /// Makes access to the choices of a profile.
    package init(profile: String) { self.profile = profile }

    /// Returns whether a program is opted out.
    package func contains(_ application: ApplicationID, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM opt_outs WHERE profile = ? AND application = ?)"
            ),
            arguments: [profile, application.rawValue]
        ) ?? false
    }

    /// Adds a program to the opted-out ones, or removes it.
    ///
    /// A second call with the same values changes nothing.
    package func set(_ optedOut: Bool, _ application: ApplicationID, in db: Database) throws {
        let change =
            optedOut
            ? "INSERT OR IGNORE INTO opt_outs (profile, application) VALUES (?, ?)"
            : "DELETE FROM opt_outs WHERE profile = ? AND application = ?"
        try db.execute(sql: change, arguments: [profile, application.rawValue])
    }
}
