// SPDX-License-Identifier: Apache-2.0

/// The statements that run at each sign-in; a test checks their query plans.
enum SQLiteStatements {
    static let readTries = "SELECT ends_at, count FROM tries WHERE bucket = ?"
    static let writeTries = "INSERT OR REPLACE INTO tries (bucket, ends_at, count) VALUES (?, ?, ?)"
    static let refundTry = "UPDATE tries SET count = count - 1 WHERE bucket = ? AND ends_at > ? AND count > 0"
    static let use = "INSERT INTO used_nonces (nonce) VALUES (?) ON CONFLICT DO NOTHING"
    static let device = "SELECT * FROM devices WHERE user = ? AND device = ?"
    static let devices = "SELECT * FROM devices WHERE user = ? ORDER BY enabled_at, device"
    static let markUsed = "UPDATE devices SET last_used_at = ? WHERE user = ? AND device = ? AND key_id = ?"
    static let isActive = """
        SELECT EXISTS (SELECT 1 FROM devices WHERE user = ? AND device = ? AND key_id = ?)
        """
    static let document = "SELECT data FROM documents WHERE name = ?"
    static let setDocument = "INSERT OR REPLACE INTO documents (name, data) VALUES (?, ?)"
    static let audit = """
        INSERT INTO audit (at, event, user, device, address, reason) VALUES (?, ?, ?, ?, ?, ?)
        """

    static let isUsed = "SELECT EXISTS (SELECT 1 FROM used_nonces WHERE nonce = ?)"

    /// Removes lines of the audit log of before a time, which are the first.
    static let purgeOldAudit = """
        DELETE FROM audit WHERE at < ? AND id IN (SELECT id FROM audit ORDER BY id LIMIT ?)
        """

    /// Removes the oldest lines of refused passwords, which strangers can cause, beyond a number.
    static let purgeRefusedPasswords = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE event = 'password_refused'
                AND id <= (
                    SELECT id FROM audit WHERE event = 'password_refused' ORDER BY id DESC LIMIT 1 OFFSET ?
                )
                ORDER BY id LIMIT ?
        )
        """

    /// Removes the oldest other lines of a user beyond a number.
    static let purgeAuditOfUser = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE user = ?1 AND event <> 'password_refused'
                AND id <= (
                    SELECT id FROM audit WHERE user = ?1 AND event <> 'password_refused'
                        ORDER BY id DESC LIMIT 1 OFFSET ?2
                )
                ORDER BY id LIMIT ?3
        )
        """

    static let ofEachSignIn = [
        readTries, writeTries, refundTry, use, device, devices, markUsed, isActive, audit, document,
    ]
}
