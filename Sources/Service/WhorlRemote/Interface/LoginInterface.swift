// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The interface for logins, which only root may call, and for screen lockers that run as their user.
enum LoginInterface {
    /// Verifies one of the user's fingers for a login.
    struct Verify: ServiceOperation {
        typealias Reply = Answer
        static let name = "io.whorl.Login.Verify"
        static let rules = OperationRules(.once, by: .root, attaching: .process)

        /// The ID of the user who must touch the reader.
        let user: UInt32
        /// The name of the PAM service, such as `sudo`.
        var service: String
        let terminal: String?
        let remoteHost: String?
        let timeoutMilliseconds: Int64
        let mostTries: Int?
        /// Whether the login can pass a sealed password to the modules that unlock a keyring.
        var keyring: Bool?
        /// The day of the password's last change, in days since 1970-01-01.
        var passwordChangedOn: Int?
        /// The position of the descriptor for the process of polkit's agent, if polkit's helper passed one (polkit
        /// 127).
        var agent: Int?
    }

    /// Verifies a finger of the calling user, for a screen locker that runs as this user.
    ///
    /// The reply is a yes to the calling process and nothing else: no proof, no password and no session. It names no
    /// user, because a program can only be answered about its own.
    struct UnlockScreen: ServiceOperation {
        typealias Reply = Answer
        static let name = "io.whorl.Login.UnlockScreen"
        static let rules = OperationRules(.once, by: .unconfinedAtReader)
        /// `true`, so that the prompts of one user's programs wait for each other.
        static let asksOwner = true

        /// The name of the locker's PAM service, such as `swaylock`.
        var service: String
        let timeoutMilliseconds: Int64
        let mostTries: Int?
    }

    /// An update, which has only a message, or the reply.
    struct Answer: Codable, Sendable {
        /// A sentence for the user.
        var message: String?
        /// Whether one of the user's fingers matched; set only in the reply.
        var matched: Bool?
        /// The login password; `nil` if it is not handed over.
        var password: SecretBox?
        /// The keyring's own password; `nil` if it is not handed over.
        var keyringPassword: SecretBox?
    }

    /// Stores a password that a login has verified, or releases the keyring's own password.
    struct Keep: ServiceOperation {
        typealias Reply = Kept
        static let name = "io.whorl.Login.Keep"
        static let rules = OperationRules(.once, by: .root, attaching: .passcodes(1))

        let user: UInt32
        let password: SecretBox
        /// The day of the password's last change, in days since 1970-01-01.
        let changedOn: Int?
    }

    /// The reply to ``Keep``.
    struct Kept: Codable, Sendable {
        /// Whether the password was sealed.
        let value: Bool
        /// The keyring's own password, which the login password has released; `nil` if there is none.
        var keyringPassword: SecretBox?
    }

    /// Deletes a user's sealed password, or seals the keyring's own password under the new login password.
    struct PasswordChanged: ServiceOperation {
        typealias Reply = NoValue
        static let name = "io.whorl.Login.PasswordChanged"
        static let rules = OperationRules(.once, by: .root, attaching: .passcodes(2))

        let user: UInt32
        /// The login password before the change, if it is known.
        var old: SecretBox?
        /// The login password after the change, if it is known.
        var new: SecretBox?
    }

    /// Imports a user's prints.
    ///
    /// Their bytes are sent along with the message, one print after another.
    struct TakeOver: ServiceOperation {
        typealias Reply = Valued<[ImportOutcome]>
        static let name = "io.whorl.Login.TakeOver"
        static let rules = OperationRules(.once, by: .root, attaching: .values(1))

        struct Print: Codable, Sendable {
            let finger: Finger
            let driver: String
            let number: String
            /// The size of the print, in bytes.
            let size: Int
        }

        let user: UInt32
        let prints: [Print]
        let bytes: SecretBox
        let isTrial: Bool
        /// Whether the administrator confirms that only root could open the readers until now.
        let readersWereClosed: Bool
    }

    /// Identifies which of several users is touching the reader.
    struct Identify: OwnerOperation {
        typealias Reply = IdentifiedPerson
        static let name = "io.whorl.Login.Identify"
        static let rules = OperationRules(.once, by: .root)

        let users: [UInt32]
        var request: EvaluationRequest

        var purpose: String { "identify one of \(users.count) people" }
    }

    /// Ends the lockout of a user's fingers; the reply says whether they were locked out.
    struct Unlock: OfUser {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Login.Unlock"
        static let rules = OperationRules(.once, by: .unconfined)

        let value: UInt32
    }

    /// Returns information about each account whose state the service stores.
    struct ListAccounts: ServiceOperation {
        typealias Reply = Valued<[StoredAccount]>
        static let name = "io.whorl.Login.Accounts"
        static let rules = OperationRules(.once, by: .root)
    }

    /// Removes all data of the account that has or had a user ID.
    struct RemoveAccount: OfUser {
        typealias Reply = NoValue
        static let name = "io.whorl.Login.RemoveAccount"
        static let rules = OperationRules(.once, by: .root)

        let value: UInt32
        /// Whether the data is removed even if the account exists.
        var existing: Bool?
    }

    /// Confirms that the state belongs to the account that now has the user ID.
    struct ConfirmAccount: OfUser {
        typealias Reply = NoValue
        static let name = "io.whorl.Login.ConfirmAccount"
        static let rules = OperationRules(.once, by: .root)

        let value: UInt32
    }

    /// An operation on a user who is identified by an ID.
    protocol OfUser: ServiceOperation {
        var value: UInt32 { get }
    }
}

/// The reason why a login did not get a match.
enum LoginReason: String, Codable, Sendable, CaseIterable {
    case notMatched = "notMatched"
    case timedOut = "timedOut"
    case cancelled = "cancelled"
    case remote = "remote"
    case noSession = "noSession"
    case noReader = "noReader"
    case lidShut = "lidShut"
    case noFingers = "noFingers"
    case notTrusted = "notTrusted"
    case lockedOut = "lockedOut"
    case resting = "resting"
    case disabled = "disabled"
    case busy = "busy"
    case interrupted = "interrupted"
    case failed = "failed"

    /// Creates the reason from an evaluation's error.
    init(_ error: ServiceError) {
        self =
            switch error.code {
            case .biometryLockout: .lockedOut
            case .placeRests: .resting
            case .timedOut: .timedOut
            case .systemCancel, .changedMeanwhile: .interrupted
            case .lidShut: .lidShut
            case .readerInUse: .busy
            case .readerNotChosen, .printNotFound, .duplicate: .noReader
            case .biometryNotEnrolled: .noFingers
            case .biometryOptedOut: .disabled
            case .enrollmentTampered, .enrollmentRolledBack, .readerWasOpen, .accountRenamed, .counterLost:
                .notTrusted
            default: Self(error.category)
            }
    }

    private init(_ category: ErrorCategory) {
        self =
            switch category {
            case .notAuthenticated: .notMatched
            case .cancelled: .cancelled
            case .readerUnavailable: .noReader
            case .notInteractive: .noSession
            default: .failed
            }
    }
}

/// An evaluation's error, with the reason for the login.
struct LoginRefused: Error, Codable, Sendable {
    static let name = "io.whorl.Login.Refused"
    /// The name of the error for a caller that may not use the interface.
    static let rootAlone = "io.whorl.Login.RootAlone"

    let reason: LoginReason
    let code: ServiceError.Code
    let message: String
    let recovery: String
    let cause: String

    init(_ error: ServiceError, _ reason: LoginReason? = nil) {
        self.reason = reason ?? LoginReason(error)
        code = error.code
        message = error.message
        recovery = error.recovery
        cause = error.cause
    }
}
