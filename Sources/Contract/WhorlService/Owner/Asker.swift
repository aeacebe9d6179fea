// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The calling program as the system service knows it, for prompts and logs; it grants no rights.
public struct Asker: Sendable, Hashable, Codable {
    /// The calling user's ID, as reported by the kernel.
    public let user: UInt32
    /// The ID under which the program is confined (Flatpak, Snap, an AppArmor profile).
    ///
    /// A confined program cannot choose it, but an unconfined program of the same user can enter the same profile or
    /// imitate the same sandbox. It is `nil` for an unconfined program, whose name cannot be verified.
    public let confinedAs: String?
    /// The name of the process, which is chosen by the program; `nil` if the process could not be verified.
    public let process: String?
    /// The process ID; `nil` if the process could not be verified.
    public let processID: Int32?
    /// The systemd unit of the process, such as `session-2.scope`.
    public let unit: String?
    /// The login session of the process.
    public let session: String?

    /// Creates a description, and cleans its texts so that they are safe for prompts and logs.
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

    /// Decodes a description, and cleans its texts.
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

    /// Returns a text that identifies the calling program to the user.
    ///
    /// - Parameter name: The name that the program uses for itself.
    /// - Returns: For example `snap.vault.app (other programs of this user can claim this name)`, or
    ///   `“Vault” (unverified name; python3, process 77)`.
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
