// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The question of a login, which root alone may ask.
enum LoginInterface {
    /// Asks for a finger of the user, for a login.
    struct Verify: ServiceOperation {
        typealias Reply = Answer
        static let name = "io.whorl.Login.Verify"
        static let rules = OperationRules(.once, by: .root, attaching: .process)

        /// The number of the user whose finger is asked for.
        let user: UInt32
        /// The name under which PAM asks, such as `sudo`.
        var service: String
        let terminal: String?
        let remoteHost: String?
        let timeoutMilliseconds: Int64
        let mostTries: Int?
        /// Whether the login hands the password, where one is sealed, to the modules that open a keyring.
        var keyring: Bool?
        /// The day of the password's last change, in days since 1970-01-01.
        var passwordChangedOn: Int?
        /// The place of the process of polkit's agent, which polkit's helper passes (polkit 127).
        var agent: Int?
    }

    /// An update, which has a message alone, or the reply.
    struct Answer: Codable, Sendable {
        /// A sentence for the person.
        var message: String?
        /// Whether a finger of the user matched; the reply alone says so.
        var matched: Bool?
        /// The login password; `nil` where none is handed over.
        var password: SecretBox?
    }

    /// Keeps a password that a login has checked; the reply says whether it was sealed.
    struct Keep: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Login.Keep"
        static let rules = OperationRules(.once, by: .root, attaching: .passcodes(1))

        let user: UInt32
        let password: SecretBox
        /// The day of the password's last change, in days since 1970-01-01.
        let changedOn: Int?
    }

    /// Forgets the sealed password of a user.
    struct Forget: OfUser {
        typealias Reply = NoValue
        static let name = "io.whorl.Login.Forget"
        static let rules = OperationRules(.once, by: .root)

        let value: UInt32
    }

    /// Takes over prints of a user, whose bytes lie beside the message, one after the other.
    struct TakeOver: ServiceOperation {
        typealias Reply = Valued<[ImportOutcome]>
        static let name = "io.whorl.Login.TakeOver"
        static let rules = OperationRules(.once, by: .root, attaching: .values(1))

        struct Print: Codable, Sendable {
            let finger: Finger
            let driver: String
            let number: String
            /// The number of bytes.
            let size: Int
        }

        let user: UInt32
        let prints: [Print]
        let bytes: SecretBox
        let isTrial: Bool
        /// Whether the administrator vouches that only root could open the readers until now.
        let readersWereClosed: Bool
    }

    /// Asks which of several users touches the reader.
    struct Identify: OwnerOperation {
        typealias Reply = IdentifiedPerson
        static let name = "io.whorl.Login.Identify"
        static let rules = OperationRules(.once, by: .root)

        let users: [UInt32]
        var request: EvaluationRequest

        var purpose: String { "identify one of \(users.count) people" }
    }

    /// Lifts the lock on a user's fingers; the reply says whether they were locked.
    struct Unlock: OfUser {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Login.Unlock"
        static let rules = OperationRules(.once, by: .unconfined)

        let value: UInt32
    }

    /// Returns what is known of each account whose state the service keeps.
    struct ListAccounts: ServiceOperation {
        typealias Reply = Valued<[StoredAccount]>
        static let name = "io.whorl.Login.Accounts"
        static let rules = OperationRules(.once, by: .root)
    }

    /// Removes everything of the account that had a number.
    struct RemoveAccount: OfUser {
        typealias Reply = NoValue
        static let name = "io.whorl.Login.RemoveAccount"
        static let rules = OperationRules(.once, by: .root)

        let value: UInt32
    }

    /// Confirms that the account with a number is the one whose state it is.
    struct ConfirmAccount: OfUser {
        typealias Reply = NoValue
        static let name = "io.whorl.Login.ConfirmAccount"
        static let rules = OperationRules(.once, by: .root)

        let value: UInt32
    }

    /// An operation on the user with a number.
    protocol OfUser: ServiceOperation {
        var value: UInt32 { get }
    }
}

/// The reason for which a login gets no match.
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

    /// Makes the reason of an evaluation's error.
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

/// An evaluation's error with the reason for a login.
struct LoginRefused: Error, Codable, Sendable {
    static let name = "io.whorl.Login.Refused"
    /// The name of the error for a caller that may not ask.
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
