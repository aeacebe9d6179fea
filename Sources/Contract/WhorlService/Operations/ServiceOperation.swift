// SPDX-License-Identifier: Apache-2.0

/// Something that a program asks of the service: one value with all that it takes, as a message carries it.
///
/// The coded form of an operation is what a call carries; secrets attach themselves to it (`SecretBox`).
public protocol ServiceOperation: Codable, Sendable {
    /// The answer, in the form of the reply.
    associatedtype Reply: Codable & Sendable

    /// The qualified name of the method, such as `io.whorl.Fingers.List`.
    static var name: String { get }
    /// The programs that may ask, and what it does.
    static var rules: OperationRules { get }
    /// Whether it is an ``OwnerOperation``; known without a look at the type's conformances, which takes long in a large program.
    static var asksOwner: Bool { get }
    /// Whether it is in a session, which keeps what the owner shows.
    static var isInSession: Bool { get }
}

extension ServiceOperation {
    /// No owner is asked.
    public static var asksOwner: Bool { false }
    /// It is in no session.
    public static var isInSession: Bool { false }
}

extension OwnerOperation {
    /// The owner may be asked.
    public static var asksOwner: Bool { true }
}

extension SessionOperation {
    /// It is in a session.
    public static var isInSession: Bool { true }
}

/// An operation during which the owner may be asked.
public protocol OwnerOperation: ServiceOperation {
    associatedtype Request: OwnerRequest

    /// The way in which the owner is asked.
    var request: Request { get set }
    /// The change or the reason, as the journal shows it.
    var purpose: String { get }
}

/// A way in which the owner is asked.
public protocol OwnerRequest: Sendable {
    /// The program that asks.
    var application: ApplicationID { get set }
    /// The time limit for each touch.
    var timeout: Duration { get set }
    /// The facts about the program that asks, which a service adds.
    var origin: RequestOrigin { get set }
}

/// The facts about the program that asks, which a service adds to its requests; no program states them itself.
public struct RequestOrigin: Sendable {
    /// The program, as a service knows it; `nil` where it runs in this process or is not known.
    package var asker: Asker?
    /// The reason why the caller's place lets no finger be asked for, and no earlier one count; `nil` where one may be.
    package var fingerObstacle: ServiceError?
    /// The reason why nothing may be asked for, and nothing that was shown earlier counts, as in a locked session.
    package var obstacle: ServiceError?

    /// The origin of a request of this process.
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

/// An operation in a session, which keeps what the owner shows (``OwnerSession``).
package protocol SessionOperation: ServiceOperation {
    /// The session; `nil` keeps nothing.
    var session: OwnerSession? { get set }
    /// The id by which a service in another process knows the session.
    var sessionID: String? { get set }
}

/// An operation that says more about its change than its name does.
package protocol DescribedChange {
    /// The thing that is changed, such as `secret "wifi"`.
    var subject: String { get }
}

/// The programs that may ask for an operation.
///
/// None serves a user number without an account, or a user of the system other than root.
public enum AllowedCallers: Sendable, Hashable {
    /// Any program. A confined one gets only what belongs to it.
    case anyProgram
    /// Programs that are not confined.
    case unconfined
    /// Programs that are not confined, from a place that lets a finger be asked for: they open or reset the reader.
    case unconfinedAtReader
    /// Programs of root.
    case root
}

/// The rules of an operation: the programs that may ask for it, and its effect.
public struct OperationRules: Sendable, Hashable {
    /// The effect of an operation.
    public enum Effect: Sendable, Hashable {
        /// It changes nothing, or makes the same change again: it may be asked twice where no answer came.
        case repeatable
        /// It must not be asked twice.
        case once
        /// It changes something stored: the journal has the first text, and the owner's log the second as the outcome.
        case change(String, outcome: String)
        /// It changes something stored, and writes its own lines to the owner's log.
        case loggedChange(String)
    }

    /// The descriptors, most of them of memory files, that may lie beside the message of an operation.
    public enum Attachments: Sendable, Hashable {
        case none
        /// So many passcodes or passwords, of at most 4 KiB each; larger files are closed unread.
        case passcodes(Int)
        /// So many secrets, items and other values; calls with large ones wait for one another.
        case values(Int)
        /// One process (`pidfd_open(2)`), and no memory file.
        case process

        /// The most descriptors.
        package var count: Int {
            switch self {
            case .none: 0
            case .process: 1
            case .passcodes(let count), .values(let count): count
            }
        }

        /// The most bytes of each memory file.
        package var size: Int {
            switch self {
            case .passcodes: 4 << 10
            case .process: 0
            case .none, .values: .max
            }
        }
    }

    /// The programs that may ask.
    public let callers: AllowedCallers
    /// The effect.
    public let effect: Effect
    /// The memory files that it takes.
    public let attachments: Attachments
    /// Whether the service looks at the process that asks, and not at its user alone.
    public let isAboutProcess: Bool

    /// States the rules.
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

    /// States the rules of a change.
    public init(
        change text: String,
        _ outcome: String,
        by callers: AllowedCallers,
        attaching attachments: Attachments = .none
    ) { self.init(.change(text, outcome: outcome), by: callers, attaching: attachments) }
}

/// A reply that is one value.
public struct Valued<Value: Codable & Sendable>: Codable, Sendable {
    /// The value.
    public let value: Value

    /// Makes a reply.
    public init(_ value: Value) { self.value = value }
}

/// A reply that is one value, or none.
public struct Optionally<Value: Codable & Sendable>: Codable, Sendable {
    /// The value; `nil` for none.
    public let value: Value?

    /// Makes a reply.
    public init(_ value: Value?) { self.value = value }
}

/// A reply without a member.
public struct NoValue: Codable, Sendable {
    /// Makes a reply.
    public init() {}
}

/// The operations that a service answers in the same way, each with its handler in the engine's process.
///
/// Those that belong to the socket itself (prompts, agents, logins, sessions, readers, the keychain's rows) are its own.
package enum Operations {
    package static let all = ofOwner + ofItems + ofNamedItems + ofFingers + ofPasscode + ofMaintenance
}
