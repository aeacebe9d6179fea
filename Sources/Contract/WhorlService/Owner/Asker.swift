// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The program that asks, as the system's service knows it; for prompts and logs, it gives no right.
public struct Asker: Sendable, Hashable, Codable {
    /// The number of the user who asks, by the kernel's word.
    public let user: UInt32
    /// The id that the program is confined as (Flatpak, Snap, an AppArmor profile).
    ///
    /// A confined program cannot choose it, but an unconfined program of the same user can enter the same profile or imitate the
    /// same sandbox. `nil` for an unconfined program: then its name is its own word.
    public let confinedAs: String?
    /// The name of the process, which the program may choose; `nil` where the process has not proven itself.
    public let process: String?
    /// The number of the process; `nil` where the process has not proven itself.
    public let processID: Int32?
    /// The unit of systemd that the process belongs to, such as `session-2.scope`.
    public let unit: String?
    /// The login session that the process belongs to.
    public let session: String?

    /// Describes a program; texts are cleaned here, so that only cleaned texts reach prompts and logs.
    public init(
        user: UInt32,
        confinedAs: String? = nil,
        process: String? = nil,
        processID: Int32? = nil,
        unit: String? = nil,
        session: String? = nil
    ) {
        self.user = user
        self.confinedAs = confinedAs.map { DisplayText.clean($0) }
        self.process = process.map { DisplayText.clean($0, limit: 60) }
        self.processID = processID
        self.unit = unit.map { DisplayText.clean($0) }
        self.session = session.map { DisplayText.clean($0, limit: 60) }
    }

    /// Reads a description; its texts are cleaned as in every other one.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            user: try members.decode(UInt32.self, forKey: .user),
            confinedAs: try members.decodeIfPresent(String.self, forKey: .confinedAs),
            process: try members.decodeIfPresent(String.self, forKey: .process),
            processID: try members.decodeIfPresent(Int32.self, forKey: .processID),
            unit: try members.decodeIfPresent(String.self, forKey: .unit),
            session: try members.decodeIfPresent(String.self, forKey: .session)
        )
    }

    /// Returns the words for a person that say which program asks.
    ///
    /// - Parameter name: The name that the program gives itself.
    /// - Returns: For example `snap.vault.app (other programs of this user can claim this name)`, or `“Vault” (unverified name; python3, process 77)`.
    public func spoken(_ name: String) -> String {
        if let confinedAs {
            return "\(confinedAs) (other programs of this user can claim this name)"
        }
        let own = DisplayText.quoted(name, limit: 60) + " (unverified name"
        switch (process, processID) {
        case (let process?, let processID?):
            return own + "; \(DisplayText.word(process)), process \(processID))"
        case (nil, let processID?): return own + "; process \(processID))"
        default: return own + "; unknown process)"
        }
    }
}
