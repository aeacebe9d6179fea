// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import FoundationEssentials

// Keys that sign requests of SSH and nothing else, and whose prompts the service writes itself.
//
// They are listed, read and deleted like other named items. No other operation signs with them, so that a program
// cannot get a login signed under another sentence.

extension Operations {
    static let ofSSHKeys: [any ServiceOperation.Type] = [
        AddSSHKey.self, ReadSSHKeyRules.self, PinSSHKey.self, SignForSSH.self,
    ]
}

/// Creates and stores a P-256 key for SSH, and returns its public half.
///
/// The access control must require the owner, and must not require an application password. Errors: `accessRefused`;
/// those of ``AddItem``.
public struct AddSSHKey: ServiceOperation, DescribedChange {
    public typealias Reply = Valued<SigningKeyPublic>
    public static let name = "io.whorl.Items.AddSSHKey"
    public static let rules = OperationRules(change: "add an SSH key", "itemAdded", by: .unconfined)

    /// The identity of the key, which must be new.
    public let id: ItemID
    /// The access control that must be met for each signature; it cannot be changed later.
    public let access: AccessControl
    /// Whether the key also signs bytes of unknown meaning, as `ssh-add -T` requests; it cannot be changed later.
    public let allowsUnknownData: Bool
    /// The number of seconds for which a touch counts for further requests like the first
    /// (``SSHKeyRules/reuseSeconds``); it cannot be changed later.
    public let reuseSeconds: Int

    public init(_ id: ItemID, access: AccessControl, allowsUnknownData: Bool = false, reuseSeconds: Int = 0) {
        self.id = id
        self.access = access
        self.allowsUnknownData = allowsUnknownData
        self.reuseSeconds = reuseSeconds
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(ItemID.self, forKey: .id)
        access = try members.decode(AccessControl.self, forKey: .access)
        allowsUnknownData = try members.decodeIfPresent(Bool.self, forKey: .allowsUnknownData) ?? false
        reuseSeconds = try members.decodeIfPresent(Int.self, forKey: .reuseSeconds) ?? 0
        // Reject another kind here: in the engine, it would be a programming error.
        guard id.kind == .sshKey else {
            throw DecodingError.dataCorruptedError(forKey: .id, in: members, debugDescription: "other kind")
        }
    }

    package var subject: String { id.spoken }
}

/// The requests that an SSH key signs, beyond those that every one signs.
public struct SSHKeyRules: Codable, Sendable, Hashable {
    /// The rules of a new key: any host, a touch for each request, and no unknown data.
    public static let standard = SSHKeyRules(allowsUnknownData: false)
    /// The maximum number of pins of a key.
    public static let mostPins = 32
    /// The maximum number of seconds for which a touch counts.
    public static let longestReuse = 60

    /// Whether the key also signs bytes of unknown meaning.
    public var allowsUnknownData: Bool
    /// The number of seconds for which a touch or passcode counts for further requests like the first, from 0 to 60.
    ///
    /// They come from the same agent in the same stay of a login session, and the prompt would say the same: a login as
    /// the same user at the same proven host, or a signature for the same purpose. A forwarded request always prompts.
    public let reuseSeconds: Int
    /// The hosts at which the key signs in; empty for any host.
    public var pins: [SSHPin]

    public init(allowsUnknownData: Bool, reuseSeconds: Int = 0, pins: [SSHPin] = []) {
        self.allowsUnknownData = allowsUnknownData
        self.reuseSeconds = reuseSeconds
        self.pins = pins
    }
}

/// A host at which an SSH key signs in.
public struct SSHPin: Codable, Sendable, Hashable {
    /// The maximum number of bytes of ``key``.
    public static let longestKey = 16_384

    /// The name that prompts show for the host's key, 1 to 64 characters.
    public let name: String
    /// The host's public key, in SSH's encoding.
    public let key: Data

    public init(name: String, key: Data) {
        self.name = name
        self.key = key
    }
}

/// Returns the rules of an SSH key, without a prompt and without accessing the TPM.
///
/// Errors: `noSuchItem`, `itemTampered`; a storage error.
public struct ReadSSHKeyRules: ServiceOperation {
    public typealias Reply = Valued<SSHKeyRules>
    public static let name = "io.whorl.Items.SSHKeyRules"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public let id: ItemID

    public init(of id: ItemID) { self.id = id }

    private enum CodingKeys: String, CodingKey { case id = "value" }
}

/// Replaces the pins of an SSH key: the hosts at which it signs in.
///
/// The prompt names the hosts. With pins, the key signs no login for which the host is not proven, no login at another
/// host, no request of pam_ssh_agent_auth, and no unknown data. Errors: `sshRequestRefused` if a pin is not valid or there
/// are too many; `noSuchItem`; the reason why the owner was not authenticated.
public struct PinSSHKey: OwnerOperation, DescribedChange {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Items.PinSSHKey"
    public static let rules = OperationRules(
        change: "change the hosts of an SSH key",
        "itemChanged",
        by: .unconfined
    )

    public let id: ItemID
    /// The hosts; empty for any host.
    public let pins: [SSHPin]
    public var request: ConsentRequest

    public init(_ id: ItemID, to pins: [SSHPin], _ request: ConsentRequest) {
        self.id = id
        self.pins = pins
        self.request = request
    }

    package var subject: String { id.spoken }
    public var purpose: String { "change the hosts of the \(id.spoken)" }
}

/// The claims of an agent about the name of a host: prompts show a name that follows from them as a claim.
public struct SSHHostClaims: Codable, Sendable, Hashable {
    /// The maximum number of bytes of ``knownHosts``, and of candidates.
    public static let most = (bytes: 16_384, candidates: 64)

    /// Lines of files of known hosts (sshd(8)).
    public let knownHosts: Data
    /// Words that may be the name of the host, as in the arguments of ssh(1), for lines with hashed names.
    public let candidates: [String]

    public init(knownHosts: Data, candidates: [String]) {
        self.knownHosts = knownHosts
        self.candidates = candidates
    }
}

/// Prompts for the proof that an SSH key requires, and returns the signature in SSH's encoding.
///
/// The service verifies the binds, parses the bytes, and writes what the prompt says; the program has no part in it. An
/// agent passes the process of its client, and the request is refused where either of them may not prompt. Errors: `sshRequestRefused` if the bytes are not a login, a signature or an authentication with this key, or
/// contradict the binds; the reason why the owner was not authenticated, or why the vault refused the request.
public struct SignForSSH: OwnerOperation {
    public typealias Reply = Valued<Data>
    public static let name = "io.whorl.Items.SignForSSH"
    public static let rules = OperationRules(.once, by: .unconfined, attaching: .process)

    /// The maximum number of binds in one call: twice as many as a connection can have.
    public static let mostBinds = 32

    public let id: ItemID
    /// The bytes to sign, not their hash.
    public let data: Data
    /// The contents of each `session-bind@openssh.com` of the agent's connection, in their order, also if the agent
    /// refused them.
    public let binds: [Data]
    /// The index of the process descriptor of the agent's client; `nil` if the caller itself needs the signature.
    public let client: Int?
    /// The agent's claims about the name of the host that the last bind names; `nil` without a bind.
    public let hosts: SSHHostClaims?
    public var request: ConsentRequest
    /// Returns the session that keeps a proof for further requests with the key that has this public half, which the
    /// service sets.
    package var session: @Sendable (_ publicKey: Data) -> OwnerSession? = { _ in nil }

    private enum CodingKeys: CodingKey { case id, data, binds, client, hosts, request }

    public init(
        _ id: ItemID,
        data: Data,
        binds: [Data],
        client: Int? = nil,
        hosts: SSHHostClaims? = nil,
        _ request: ConsentRequest
    ) {
        self.id = id
        self.data = data
        self.binds = binds
        self.client = client
        self.hosts = hosts
        self.request = request
    }

    public var purpose: String { "sign a request of SSH with the \(id.spoken)" }
}
