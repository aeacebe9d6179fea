// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The purpose of a touch or a passcode, which is valid for this purpose only.
///
/// Each purpose has one row in ``proof`` and one in ``line(_:)``. A new purpose does not compile without both.
public enum TouchPurpose: Sendable, Hashable {
    /// A confirmation that does not unlock anything.
    case yes
    /// Using the program's keychain rows, or sealed items that it provides itself.
    case storedByProgram
    /// Using the item that is stored under this name.
    case item(String)
    /// A sign-in to this server.
    case signIn(String)
    /// Setting the first passcode.
    case setPasscode
    /// Changing the passcode.
    case changePasscode
    /// Removing the passcode.
    case removePasscode
    /// Binding items to the current boot measurements.
    case reseal
    /// A change to the enrolled fingers.
    case changeFingers
    /// Deleting the item that is stored under this name.
    case deleteItem(String)
    /// Listing the items of all programs.
    case listItems
    /// Deleting everything that is stored for the user.
    case deleteEverything
    /// A login with SSH as this user at the host with this key, which the signature is bound to.
    case sshLogin(String)
    /// A login with SSH as this user at the host with this key, which the signature is not bound to.
    case sshLoginBound(String)
    /// A login with SSH as this user at an unknown host.
    case sshLoginUnproven(String)
    /// Signing a commit, tag or push of git.
    case gitSignature
    /// Signing data for this purpose (SSHSIG's namespace).
    case sshSignature(String)
    /// Authenticating on another computer, for a program there such as sudo.
    case sshAuthentication(String)
    /// Signing data of unknown meaning with the SSH key that has this name.
    case sshUnknownData(String)
    /// Changing the hosts at which an SSH key signs in: the key's name and the hosts.
    case sshPins(String)
    /// Turning the keyring on.
    case keyring
    /// Turning the keyring off.
    case keyringOff
    /// Giving the keyring a password of its own.
    case keyringPassword
    /// Unlocking the keyring with its own password.
    case openKeyring
    /// Enabling or disabling fingerprints for the program with this name.
    case optOut(String)
    /// A login through this PAM service.
    case logIn(String)
    /// Unlocking the screen through this PAM service.
    case unlockScreen(String)
}

extension TouchPurpose {
    /// The proof that a touch leaves in a session for later requests from the same caller.
    package enum Proof: Sendable, Hashable {
        /// The touch leaves no proof: it is valid only for the request that prompted for it.
        case none
        /// A proof for one use, within ``ProofLimits/single`` of the touch.
        case once
        /// A proof for any number of uses, within the machine's ``ProofLimits``.
        case untilLimit
    }

    /// The proof that a touch for this purpose leaves.
    ///
    /// A sign-in needs a proof: the signed data states how the owner was authenticated, so the prompt must come before
    /// the signature.
    package var proof: Proof {
        switch self {
        case .yes, .item, .deleteItem, .listItems, .deleteEverything, .changeFingers, .changePasscode,
            .removePasscode, .reseal,
            .sshLogin, .sshLoginBound, .sshLoginUnproven, .gitSignature, .sshSignature, .sshAuthentication,
            .sshUnknownData, .sshPins,
            .keyring, .keyringOff, .keyringPassword, .openKeyring, .optOut:
            .none
        case .storedByProgram: .untilLimit
        case .signIn, .setPasscode, .logIn, .unlockScreen: .once
        }
    }

    /// Whether a program may use this purpose for an evaluation; other purposes are for the service's own operations.
    package var isForEvaluations: Bool {
        switch self {
        case .yes, .storedByProgram, .signIn: true
        case .item, .deleteItem, .listItems, .deleteEverything, .setPasscode, .changePasscode,
            .removePasscode, .reseal,
            .sshLogin, .sshLoginBound, .sshLoginUnproven, .gitSignature, .sshSignature, .sshAuthentication,
            .sshUnknownData, .sshPins,
            .changeFingers, .keyring, .keyringOff, .keyringPassword, .openKeyring, .optOut, .logIn,
            .unlockScreen:
            false
        }
    }

    /// The code of the purpose, for messages and the journal.
    package var code: String { words.code }

    /// Returns the line of a prompt that describes the purpose, in the user's language.
    ///
    /// - Parameter limits: The limits of the proof that the touch leaves; `nil` if it leaves no proof.
    /// - Returns: A sentence; any name in it has been cleaned.
    package func line(_ limits: ProofLimits?) -> String {
        switch self {
        case .yes: translated("Confirms your identity. Unlocks nothing.")
        case .storedByProgram:
            if let limits {
                translated(
                    "Unlocks items stored by this program: %1$@ after each use, %2$@ at most.",
                    with: limits.unused.translated,
                    limits.whole.translated
                )
            } else {
                translated("Unlocks an item stored by this program, once.")
            }
        case .item(let name): translated("Unlocks “%1$@”, once.", with: Self.shown(name))
        case .signIn(let server): translated("Signs in to %1$@.", with: Self.shown(server))
        case .setPasscode: translated("Sets the passcode entered in this program.")
        case .changePasscode: translated("Changes your passcode to the one entered in this program.")
        case .removePasscode: translated("Removes your passcode.")
        case .reseal: translated("Binds your secrets to the current boot measurements.")
        case .changeFingers: translated("Changes the enrolled fingers.")
        case .deleteItem(let name): translated("Deletes “%1$@”.", with: Self.shown(name))
        case .listItems: translated("Shows which items all programs have stored, without their values.")
        case .deleteEverything: translated("Deletes your fingers, secrets, keys, passcode and log.")
        case .sshLogin(let host):
            translated("Signs in with SSH: %1$@.", with: Self.whole(host)) + Self.more(limits)
        case .sshLoginBound(let host):
            translated("Signs in with SSH: %1$@. The host could use it elsewhere.", with: Self.whole(host))
        case .sshLoginUnproven(let user):
            translated("Signs in with SSH as %1$@, to an unknown host.", with: Self.whole(user))
        case .gitSignature: translated("Signs a commit or tag of git.") + Self.more(limits)
        case .sshSignature(let use):
            translated("Signs data with SSH for %1$@.", with: Self.whole(use)) + Self.more(limits)
        case .sshAuthentication(let use):
            translated("Authenticates on another computer: %1$@.", with: Self.whole(use))
        case .sshUnknownData(let key): translated("Signs unknown data with “%1$@”.", with: Self.whole(key))
        case .sshPins(let hosts):
            translated("Changes where an SSH key signs in: %1$@.", with: Self.whole(hosts))
        case .keyring: translated("Unlocks your keyring when you log in by touch.")
        case .keyringOff: translated("Stops unlocking your keyring when you log in by touch.")
        case .keyringPassword: translated("Lets a finger or your passcode unlock your keyring at any time.")
        case .openKeyring: translated("Unlocks your keyring. It does not say which program is asking.")
        case .optOut(let program):
            translated("Changes whether %1$@ may use fingerprints.", with: Self.shown(program))
        case .logIn(let service): translated("Logs in with %1$@.", with: Self.shown(service))
        case .unlockScreen: translated("Unlocks the screen.")
        }
    }

    /// Returns the sentence about further requests, after a space; empty without limits.
    private static func more(_ limits: ProofLimits?) -> String {
        guard let limits else { return "" }
        return " " + translated("Allows the same again for %1$@.", with: limits.whole.translated)
    }

    private static func shown(_ name: String) -> String { DisplayText.clean(name, limit: 60) }

    /// Returns a name that ends with fingerprints, which must not be cut off.
    private static func whole(_ name: String) -> String { DisplayText.clean(name, limit: longestSSHName) }

    /// The maximum number of characters of the names in purposes of SSH: a name, and the fingerprints of a host and of
    /// the hops on the way to it.
    package static let longestSSHName = 480
}

/// The encoding of a purpose for messages between processes: its code, and the name that it refers to.
extension TouchPurpose: Codable {
    private enum Member: String, CodingKey {
        case code = "kind"
        case name = "name"
    }

    private var words: (code: String, name: String?) {
        switch self {
        case .yes: ("yes", nil)
        case .storedByProgram: ("storedByProgram", nil)
        case .item(let name): ("item", name)
        case .signIn(let server): ("signIn", server)
        case .setPasscode: ("setPasscode", nil)
        case .changePasscode: ("changePasscode", nil)
        case .removePasscode: ("removePasscode", nil)
        case .reseal: ("reseal", nil)
        case .changeFingers: ("changeFingers", nil)
        case .deleteItem(let name): ("deleteItem", name)
        case .listItems: ("listItems", nil)
        case .deleteEverything: ("deleteEverything", nil)
        case .sshLogin(let host): ("sshLogin", host)
        case .sshLoginBound(let host): ("sshLoginBound", host)
        case .sshLoginUnproven(let user): ("sshLoginUnproven", user)
        case .gitSignature: ("gitSignature", nil)
        case .sshSignature(let use): ("sshSignature", use)
        case .sshAuthentication(let use): ("sshAuthentication", use)
        case .sshUnknownData(let key): ("sshUnknownData", key)
        case .sshPins(let hosts): ("sshPins", hosts)
        case .keyring: ("keyring", nil)
        case .keyringOff: ("keyringOff", nil)
        case .keyringPassword: ("keyringPassword", nil)
        case .openKeyring: ("openKeyring", nil)
        case .optOut(let program): ("optOut", program)
        case .logIn(let service): ("logIn", service)
        case .unlockScreen(let service): ("unlockScreen", service)
        }
    }

    /// Decodes a purpose; throws `DecodingError.dataCorrupted` if this version does not know it.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        func name() throws -> String { try members.decode(String.self, forKey: .name) }
        switch try members.decode(String.self, forKey: .code) {
        case "yes": self = .yes
        case "storedByProgram": self = .storedByProgram
        case "item": self = .item(try name())
        case "signIn": self = .signIn(try name())
        case "setPasscode": self = .setPasscode
        case "changePasscode": self = .changePasscode
        case "removePasscode": self = .removePasscode
        case "reseal": self = .reseal
        case "changeFingers": self = .changeFingers
        case "deleteItem": self = .deleteItem(try name())
        case "listItems": self = .listItems
        case "deleteEverything": self = .deleteEverything
        case "sshLogin": self = .sshLogin(try name())
        case "sshLoginBound": self = .sshLoginBound(try name())
        case "sshLoginUnproven": self = .sshLoginUnproven(try name())
        case "gitSignature": self = .gitSignature
        case "sshSignature": self = .sshSignature(try name())
        case "sshAuthentication": self = .sshAuthentication(try name())
        case "sshUnknownData": self = .sshUnknownData(try name())
        case "sshPins": self = .sshPins(try name())
        case "keyring": self = .keyring
        case "keyringOff": self = .keyringOff
        case "keyringPassword": self = .keyringPassword
        case "openKeyring": self = .openKeyring
        case "optOut": self = .optOut(try name())
        case "logIn": self = .logIn(try name())
        case "unlockScreen": self = .unlockScreen(try name())
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .code,
                in: members,
                debugDescription: "unknown purpose"
            )
        }
    }

    /// Encodes the purpose.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(words.code, forKey: .code)
        try members.encodeIfPresent(words.name, forKey: .name)
    }
}

/// The time limits of a proof.
public struct ProofLimits: Sendable, Hashable, Codable {
    /// The default limits, which an administrator can make stricter.
    package static let standard = ProofLimits(unusedSeconds: 300, wholeSeconds: 3600)
    /// The time within which a proof for one use must be used.
    package static let single = Duration.seconds(60)

    /// The number of seconds after the last use at which a proof expires, from 0 to 300.
    package let unusedSeconds: Int
    /// The number of seconds after the touch at which a proof expires, from 0 to 3600.
    package let wholeSeconds: Int

    /// Creates limits; a value outside its range is replaced by the nearest valid one.
    package init(unusedSeconds: Int, wholeSeconds: Int) {
        self.unusedSeconds = min(max(0, unusedSeconds), 300)
        self.wholeSeconds = min(max(0, wholeSeconds), 3600)
    }

    /// The time after the last use at which a proof expires.
    package var unused: Duration { .seconds(min(unusedSeconds, wholeSeconds)) }
    /// The time after the touch at which a proof expires.
    package var whole: Duration { .seconds(wholeSeconds) }
}
