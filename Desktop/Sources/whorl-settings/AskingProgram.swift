// SPDX-License-Identifier: Apache-2.0

import WhorlService
import WhorlSupport

/// A program that has asked the service for something, according to the user's log.
struct AskingProgram: Sendable {
    let id: ApplicationID
    /// Whether each request came from a confined program with this ID; otherwise, the name is only claimed.
    let isVerified: Bool
    /// The program's last entry in the log.
    let latest: AuditEntry
    var isDenied = false

    /// Returns the programs in the log, the last one that asked first.
    ///
    /// The settings themselves are left out, because a user who denied them could not use them to allow them again.
    ///
    /// - Parameter log: The entries, newest first.
    /// - Returns: The programs.
    static func all(in log: [AuditEntry]) -> [AskingProgram] {
        let named = log.filter { !$0.application.isEmpty && $0.application != Session.application.rawValue }
        let entries = Dictionary(grouping: named, by: \.application).values
        return entries.compactMap { own in
            own.first.map { latest in
                AskingProgram(
                    id: ApplicationID(rawValue: latest.application),
                    isVerified: own.allSatisfy { $0.asker?.confinedAs != nil },
                    latest: latest
                )
            }
        }.sorted { $0.latest.id > $1.latest.id }
    }

    /// The name; in quotation marks if other programs can claim it.
    var shownName: String {
        let name = DisplayText.clean(id.rawValue, limit: 60)
        return isVerified ? name : "“\(name)”"
    }
}
