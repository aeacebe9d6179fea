// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Schema {
    /// The login's table, of version 6.
    static let loginTables = """
        -- A row: the owner wants a touch at the login to hand over the login password. item: the password as a sealed
        -- item of the vault; NULL until it was typed. changed_on: the day of the password's last change, in days since
        -- 1970-01-01, as the login told it; NULL where it did not.
        CREATE TABLE login_passwords (
            profile TEXT PRIMARY KEY,
            item BLOB,
            changed_on INTEGER
        ) STRICT, WITHOUT ROWID;
        """

    static let addLogins: @Sendable (Database) throws -> Void = { db in try db.execute(sql: loginTables) }
}
