// SPDX-License-Identifier: Apache-2.0

/// A request to the service, as one value with all its parameters.
///
/// Its encoded form is sent in a message, to which any secrets are attached (`SecretBox`).
public protocol ServiceOperation: Codable, Sendable {
    /// The type of the reply.
    associatedtype Reply: Codable & Sendable

    /// The qualified name of the method, such as `io.whorl.Fingers.List`.
    static var name: String { get }
    /// The allowed callers, and the effect of the operation.
    static var rules: OperationRules { get }
    /// Whether this is an ``OwnerOperation``.
    ///
    /// This constant avoids a lookup of the type's conformances, which is slow in a large program.
    static var asksOwner: Bool { get }
    /// Whether the operation runs in a session, which keeps the owner's proof.
    static var isInSession: Bool { get }
}

extension ServiceOperation {
    /// `false`, because the owner is not prompted.
    public static var asksOwner: Bool { false }
    /// `false`, because the operation does not run in a session.
    public static var isInSession: Bool { false }
}

extension OwnerOperation {
    /// `true`, because the owner may be prompted.
    public static var asksOwner: Bool { true }
}

extension SessionOperation {
    /// `true`, because the operation runs in a session.
    public static var isInSession: Bool { true }
}

/// An operation that may prompt the owner.
public protocol OwnerOperation: ServiceOperation {
    associatedtype Request: OwnerRequest

    /// The options for prompting the owner.
    var request: Request { get set }
    /// The change or the reason, as recorded in the system journal.
    var purpose: String { get }
}

/// A request that prompts the owner.
public protocol OwnerRequest: Sendable {
    /// The calling program.
    var application: ApplicationID { get set }
    /// The time limit for each touch.
    var timeout: Duration { get set }
    /// Information about the calling program, which a service adds.
    var origin: RequestOrigin { get set }
}

/// Information about the calling program, which a service adds to its requests; programs cannot set it themselves.
public struct RequestOrigin: Sendable {
    /// The calling program as the service knows it; `nil` if it runs in this process or is unknown.
    package var asker: Asker?
    /// The reason why fingers and earlier matches are not accepted where the caller runs; `nil` if they are accepted.
    package var fingerObstacle: ServiceError?
    /// The reason why no proof is accepted, not even an earlier one, for example because the session is locked.
    package var obstacle: ServiceError?

    /// Creates the origin of a request from this process.
    public init() {}
}

extension OwnerRequest {
    package var asker: Asker? {
        get { origin.asker }
        set { origin.asker = newValue }
    }
    package var fingerObstacle: ServiceError? {
        get { origin.fingerObstacle }
        set { origin.fingerObstacle = newValue }
    }
    package var obstacle: ServiceError? {
        get { origin.obstacle }
        set { origin.obstacle = newValue }
    }
}

extension EvaluationRequest: OwnerRequest {}
extension ConsentRequest: OwnerRequest {}

/// An operation in a session, which keeps the owner's proof (``OwnerSession``).
package protocol SessionOperation: ServiceOperation {
    /// The session; if it is `nil`, no proof is kept.
    var session: OwnerSession? { get set }
    /// The ID by which a service in another process identifies the session.
    var sessionID: String? { get set }
}

/// An operation whose log entry includes the name of the object that it changes.
package protocol DescribedChange {
    /// The object that is changed, such as `secret "wifi"`.
    var subject: String { get }
}

/// The programs that are allowed to request an operation.
///
/// No case includes user IDs without an account, or system users other than root.
public enum AllowedCallers: Sendable, Hashable {
    /// Any program; a confined one can access only its own data.
    case anyProgram
    /// Programs that are not confined.
    case unconfined
    /// Programs that are not confined and run where fingers are accepted, for operations on the reader itself, and for
    /// lists of what other programs have stored.
    case unconfinedAtReader
    /// Programs that run as root.
    case root
}

/// The rules of an operation: the allowed callers, and the effect.
public struct OperationRules: Sendable, Hashable {
    /// The effect of an operation.
    public enum Effect: Sendable, Hashable {
        /// The operation changes nothing, or has the same effect when repeated, so it can be repeated if no reply
        /// arrived.
        case repeatable
        /// The operation must not be repeated.
        case once
        /// The operation changes stored state; the journal records the first text, and the owner's log records the
        /// second as the outcome.
        case change(String, outcome: String)
        /// The operation changes stored state, and writes entries to the owner's log itself.
        case loggedChange(String)
    }

    /// The descriptors, mostly of memory files, that may accompany the message of an operation.
    public enum Attachments: Sendable, Hashable {
        case none
        /// Up to this number of passcodes or passwords, of at most 4 KiB each; larger files are closed without being
        /// read.
        case passcodes(Int)
        /// Up to this number of secrets, items and other values; calls with large values wait for each other.
        case values(Int)
        /// One process descriptor (`pidfd_open(2)`), and no memory files.
        case process

        /// The maximum number of descriptors.
        package var count: Int {
            switch self {
            case .none: 0
            case .process: 1
            case .passcodes(let count), .values(let count): count
            }
        }

        /// The maximum size of each memory file in bytes.
        package var size: Int {
            switch self {
            case .passcodes: 4 << 10
            case .process: 0
            case .none, .values: .max
            }
        }
    }

    /// The allowed callers.
    public let callers: AllowedCallers
    /// The effect of the operation.
    public let effect: Effect
    /// The memory files that the operation accepts.
    public let attachments: Attachments
    /// Whether the service examines the calling process rather than only its user.
    public let isAboutProcess: Bool

    /// Creates the rules of an operation.
    public init(
        _ effect: Effect,
        by callers: AllowedCallers,
        attaching attachments: Attachments = .none,
        isAboutProcess: Bool = true
    ) {
        self.callers = callers
        self.effect = effect
        self.attachments = attachments
        self.isAboutProcess = isAboutProcess
    }

    /// Creates the rules of an operation that changes stored state.
    public init(
        change text: String,
        _ outcome: String,
        by callers: AllowedCallers,
        attaching attachments: Attachments = .none
    ) { self.init(.change(text, outcome: outcome), by: callers, attaching: attachments) }
}

/// A reply with one value.
public struct Valued<Value: Codable & Sendable>: Codable, Sendable {
    /// The value in the reply.
    public let value: Value

    /// Creates a reply.
    public init(_ value: Value) { self.value = value }
}

/// A reply with an optional value.
public struct Optionally<Value: Codable & Sendable>: Codable, Sendable {
    /// The value in the reply, or `nil`.
    public let value: Value?

    /// Creates a reply.
    public init(_ value: Value?) { self.value = value }
}

/// An empty reply.
public struct NoValue: Codable, Sendable {
    /// Creates a reply.
    public init() {}
}

/// The operations that a service handles in the same way, each with a handler in the engine's process.
///
/// It does not include the operations of the socket itself: those on prompts, agents, logins, sessions, readers and
/// keychain rows.
package enum Operations {
    package static let all =
        ofOwner + ofItems + ofNamedItems + ofSSHKeys + ofProgramItems + ofFingers + ofPasscode + ofKeyring
        + ofMaintenance
}
