// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlIPC
import WhorlSupport

/// The rule that determines which users the system service serves: root, and the accounts of people.
///
/// A daemon's user has no fingers. A user ID without an account, such as a subordinate one (subuid(5)), does not stand
/// for a person. A single user has 65,536 subordinate IDs, each of which would get a separate share.
package struct AccountRule: Sendable {
    /// The lowest user ID of people's accounts (login.defs(5)).
    let firstPerson: UInt32
    private let hasAccount: @Sendable (UInt32) -> Bool?

    /// Creates the rule.
    ///
    /// - Parameters:
    ///   - definitions: The file that specifies the lowest user ID of people's accounts.
    ///   - hasAccount: Returns whether the user database has an account with a user ID; `nil` if the database does not
    ///     respond.
    package init(
        definitions: String = "/etc/login.defs",
        hasAccount: @escaping @Sendable (UInt32) -> Bool? = ThisProcess.hasAccount
    ) {
        firstPerson = Self.firstPerson(in: definitions) ?? 1000
        self.hasAccount = hasAccount
    }

    /// Returns the reason why the service does not serve a user; `nil` if it does.
    package func refusal(of uid: UInt32) -> ServiceRefusal? {
        if uid == 0 { return nil }
        guard uid >= firstPerson, !Self.dynamic.contains(uid), uid != Self.nobody else {
            return Self.refusal("The service is for login users and root; user \(uid) is a system user.")
        }
        return switch hasAccount(uid) {
        case true?: nil
        case false?: Self.refusal("User ID \(uid) has no account on this machine.")
        case nil: Self.refusal("Cannot look up user ID \(uid) in the user database.")
        }
    }

    /// The user IDs that systemd assigns to services while they run (systemd.exec(5), `DynamicUser=`).
    private static let dynamic: ClosedRange<UInt32> = 61_184...65_519
    private static let nobody: UInt32 = 65_534

    private static func refusal(_ message: String) -> ServiceRefusal {
        ServiceRefusal(
            "io.whorl.Connection.NoAccount",
            message: message,
            recovery:
                "Call it as a login user or as root. Login programs use PAM or fprintd's interface."
        )
    }

    private static func firstPerson(in definitions: String) -> UInt32? {
        guard let file = fopen(definitions, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            if words.count >= 2, words[0] == "UID_MIN" { return UInt32(words[1]) }
        }
        return nil
    }
}
