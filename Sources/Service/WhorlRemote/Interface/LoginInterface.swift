// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The question of a login, which root alone may ask.
enum LoginInterface {
    struct Asking: Codable, Sendable {
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
    }

    /// An update or the reply; one member is set.
    struct Answer: Codable, Sendable {
        /// A sentence for the person.
        var message: String?
        /// Whether a finger of the user matched; the reply alone says so.
        var matched: Bool?
        /// The place of the login password beside the reply; `nil` where none is handed over.
        var password: Int?
    }

    /// A password that a login has checked.
    struct Keeping: Codable, Sendable {
        let user: UInt32
        /// The place of the password beside the call.
        let password: Int
        /// The day of the password's last change, in days since 1970-01-01.
        let changedOn: Int?
    }

    /// Prints of a user that are to be taken over, whose bytes lie beside the message, one after the other.
    struct TakingOverCall: Codable, Sendable {
        struct Print: Codable, Sendable {
            let finger: Finger
            let driver: String
            let number: String
            /// The number of bytes.
            let size: Int
        }

        let user: UInt32
        let prints: [Print]
        /// The place of the bytes beside the message.
        let bytes: Int
        let isTrial: Bool
        /// Whether the administrator vouches that only root could open the readers until now.
        let readersWereClosed: Bool
    }

    /// The question which of several users touches the reader.
    struct Identifying: Codable, Sendable {
        let users: [UInt32]
        let request: EvaluationRequest
    }

    static let identify = ServiceMethod<Prompting<Identifying>, Prompted<IdentifiedPerson>>(
        "io.whorl.Login.Identify",
        by: .root
    )
    static let takeOver = ServiceMethod<TakingOverCall, Valued<[TakingOver]>>(
        "io.whorl.Login.TakeOver",
        by: .root,
        taking: 1
    )
    /// Seals a password for a later login by touch; the reply says whether it was sealed.
    static let keep = ServiceMethod<Keeping, Valued<Bool>>("io.whorl.Login.Keep", by: .root, taking: 1)
    /// Forgets the sealed password of a user.
    static let forget = ServiceMethod<Valued<UInt32>, NoValue>("io.whorl.Login.Forget", by: .root)
    /// Lifts the lock on a user's fingers; the reply says whether they were locked.
    static let unlock = ServiceMethod<Valued<UInt32>, Valued<Bool>>("io.whorl.Login.Unlock", by: .unconfined)
    /// Returns what is known of each account whose state the service keeps.
    static let accounts = ServiceMethod<NoValue, Valued<[AccountOfFolder]>>(
        "io.whorl.Login.Accounts",
        by: .root
    )
    /// Removes everything of the account that had a number.
    static let removeAccount = ServiceMethod<Valued<UInt32>, NoValue>(
        "io.whorl.Login.RemoveAccount",
        by: .root
    )
    /// Confirms that the account with a number is the one whose state it is.
    static let confirmAccount = ServiceMethod<Valued<UInt32>, NoValue>(
        "io.whorl.Login.ConfirmAccount",
        by: .root
    )
    static let verify = ServiceMethod<Asking, Answer>("io.whorl.Login.Verify", by: .root)
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
