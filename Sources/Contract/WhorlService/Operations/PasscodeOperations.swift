// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import WhorlSecretMemory

// The owner's passcode.

extension Operations {
    static let ofPasscode: [any ServiceOperation.Type] = [
        IsPasscodeSet.self, AskForFinger.self, SetPasscode.self, ChangePasscode.self,
        ListItemsLostWithoutPasscode.self, RemovePasscode.self,
    ]
}

/// Returns whether a passcode is set.
///
/// Errors: `noChip` if there is no TPM, so a passcode could not be set either; a storage error.
public struct IsPasscodeSet: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Passcode.IsSet"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Prompts for an enrolled finger, if there is one, before the first passcode is set.
///
/// Errors: those of any unsuccessful evaluation.
public struct AskForFinger: OwnerOperation, SessionOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Passcode.AskForFinger"
    public static let rules = OperationRules(.once, by: .unconfined)

    public var request: ConsentRequest
    /// The session that keeps the match for ``SetPasscode``.
    public var session: OwnerSession? = nil
    package var sessionID: String?

    private enum CodingKeys: String, CodingKey {
        case request = "request"
        case sessionID = "session"
    }

    public init(_ request: ConsentRequest, in session: OwnerSession) {
        self.request = request
        self.session = session
    }

    public var purpose: String { "set a passcode" }
}

/// Sets the first passcode.
///
/// If a finger is enrolled, a match for this purpose within the last minute is required, because a passcode allows
/// enrolling more fingers. Errors: `passcodeExists`, `passcodeWrongSize`, `accessDenied` if a required match is
/// missing, `noChip`, a storage error.
public struct SetPasscode: SessionOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Passcode.Set"
    public static let rules = OperationRules(
        change: "set the passcode",
        "passcodeSet",
        by: .unconfined,
        attaching: .passcodes(1)
    )

    /// The passcode: 4 to 1,024 bytes, exactly as typed.
    public let passcode: SecretBox
    /// The calling program, the same as in ``AskForFinger``.
    public var request: ConsentRequest
    /// The session that was used for ``AskForFinger``.
    public var session: OwnerSession? = nil
    package var sessionID: String?

    private enum CodingKeys: String, CodingKey {
        case passcode = "passcode"
        case request = "request"
        case sessionID = "session"
    }

    public init(_ passcode: SecretBox, _ request: ConsentRequest, shown session: OwnerSession) {
        self.passcode = passcode
        self.request = request
        self.session = session
    }
}

/// Prompts for the current passcode and changes it; the new passcode unlocks the same items as the old one.
///
/// Errors: the reason why the owner did not consent; `passcodeNotSet`, `passcodeWrongSize`, `noChip`, a storage error.
public struct ChangePasscode: OwnerOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Passcode.Change"
    public static let rules = OperationRules(
        change: "change the passcode",
        "passcodeChanged",
        by: .unconfined,
        attaching: .passcodes(1)
    )

    /// The new passcode: 4 to 1,024 bytes, exactly as typed.
    public let new: SecretBox
    public var request: ConsentRequest

    public init(to new: SecretBox, _ request: ConsentRequest) {
        self.new = new
        self.request = request
    }

    public var purpose: String { "change the passcode" }
}

/// Lists the items that would be lost if the passcode were removed.
///
/// Errors: `passcodeNotSet`, a storage error.
public struct ListItemsLostWithoutPasscode: ServiceOperation {
    public typealias Reply = Valued<[ItemID]>
    public static let name = "io.whorl.Passcode.ItemsLostWithout"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Prompts for the passcode, and removes it along with the items that only the passcode unlocks.
///
/// Returns the removed items. Errors: `passcodeNeeded(by:)`, and those of ``ChangePasscode``.
public struct RemovePasscode: OwnerOperation, DescribedChange {
    public typealias Reply = [ItemID]
    public static let name = "io.whorl.Passcode.Remove"
    public static let rules = OperationRules(
        change: "remove the passcode",
        "passcodeRemoved",
        by: .unconfined
    )

    /// Whether to delete the items that would be lost; if `false` and there are such items, nothing is changed.
    public let force: Bool
    public var request: ConsentRequest

    public init(force: Bool, _ request: ConsentRequest) {
        self.force = force
        self.request = request
    }

    package var subject: String { force ? "the passcode and the items that only it unlocks" : "the passcode" }
    public var purpose: String { "remove \(subject)" }
}
