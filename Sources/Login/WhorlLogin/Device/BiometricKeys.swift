// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import LoginAssertion
public import WhorlService

/// A key pair whose private half signs only for its owner, with the names of react-native-biometrics.
///
///     let keys = BiometricKeys()
///     let publicKey = try await keys.createKeys()                     // to the server: publicKey.der
///     let signature = try await keys.createSignature(promptMessage: "sign in", payload: challenge)
///
/// It is for your own servers that issue bytes and accept a signature over them; ``LoginClient`` has a protocol on top.
/// A program may have several pairs, each under a name.
public struct BiometricKeys: Sendable {
    /// The name of the pair within the program.
    public let name: String
    /// The options for making and using keys.
    public let options: LoginOptions
    private let surroundings: @Sendable () -> ContextParts

    /// Makes an interface to the pair of a name in an environment that the caller chooses; no key is made yet.
    package init(_ name: String, options: LoginOptions, parts: @escaping @Sendable () -> ContextParts) {
        self.name = name
        self.options = options
        surroundings = parts
    }

    /// Returns whether a prompt for a finger could succeed now, and the reason if not; there is no prompt.
    public func isSensorAvailable() async -> SensorAvailability {
        SensorAvailability(await Owner(parts: surroundings(), options: options).preflight())
    }

    /// Makes a pair, and replaces the present one; there is no prompt.
    ///
    /// - Returns: The public half; a server stores `LoginKey.der` (SubjectPublicKeyInfo), in Base64 as
    ///   `der.base64EncodedString()`.
    /// - Throws: `service` if no finger is enrolled or the machine cannot make one.
    public func createKeys() async throws(LoginError) -> LoginKey {
        let (owner, records) = desk()
        let now = await owner.preflight()
        if let obstacle = now.obstacle, obstacle.code != .biometryLockout {
            throw LoginError(.service(obstacle))
        }
        let item = try await owner.makeKey(options.access(withPasscode: now.isPasscodeSet))
        let record = LoginRecord.Key(
            item: item.encoded,
            fingers: now.domainState,
            name: name,
            enabledAt: Date()
        )
        guard let pair = owner.pair(record) else { throw LoginError(.mustEnableAgain(.keyLost)) }
        try await records.put(record, of: name, label: "Key pair \(name)")
        return pair.key
    }

    /// Returns whether a pair exists that can still sign; there is no prompt.
    public func keysExist() async throws(LoginError) -> Bool {
        let (owner, records) = desk()
        guard let pair = try await pair(records) else { return false }
        return try await owner.loss(of: pair.item, madeFor: pair.record.fingers) == nil
    }

    /// Returns the public half; `nil` if there is no pair.
    public func publicKey() async throws(LoginError) -> LoginKey? { try await pair(desk().records)?.key }

    /// Deletes the pair permanently; there is no prompt.
    ///
    /// - Returns: Whether there was a pair.
    @discardableResult
    public func deleteKeys() async throws(LoginError) -> Bool { try await desk().records.delete(name) }

    /// Prompts the owner, and has the chip sign.
    ///
    /// - Parameters:
    ///   - promptMessage: The reason that the prompt shows; it must not be empty or blank.
    ///   - payload: The bytes to sign, of any size; the chip gets their SHA-256.
    /// - Returns: The signature over the payload: ECDSA with P-256 and SHA-256, DER (RFC 3279, 2.2.3).
    /// - Throws: `notEnabled` without a pair; `mustEnableAgain` if it can no longer be used: it stays until
    ///   ``createKeys()`` replaces it, or ``deleteKeys()`` is called; `service`.
    public func createSignature(promptMessage: String, payload: Data) async throws(LoginError) -> Data {
        let (owner, records) = desk()
        guard let pair = try await pair(records) else { throw LoginError(.notEnabled) }
        if let loss = try await owner.loss(of: pair.item, madeFor: pair.record.fingers) {
            throw LoginError(.mustEnableAgain(loss))
        }
        return try await owner.signAsking(payload, with: pair.item, promptMessage).der
    }

    /// Prompts for a finger (or the passcode, if the options allow it), for uses that need no key.
    ///
    /// - Returns: `true` if the owner was recognized; `false` if the person cancelled.
    /// - Throws: `service` for every other outcome.
    public func simplePrompt(promptMessage: String) async throws(LoginError) -> Bool {
        let owner = desk().owner
        do throws(LoginError) {
            _ = try await owner.recognize(
                for: options.takesPasscode ? .userPresence : .biometryAny,
                .yes,
                promptMessage
            )
            return true
        } catch {
            guard case .service(let failure) = error.code, failure.code == .userCancel else { throw error }
            return false
        }
    }

    private func desk() -> (owner: Owner, records: RecordStore) {
        let parts = surroundings()
        return (
            Owner(parts: parts, options: options), RecordStore(parts: parts, service: "whorl biometric keys")
        )
    }

    private func pair(_ records: RecordStore) async throws(LoginError) -> LoginKeyPair? {
        let owner = desk().owner
        return try await records.record(of: name, as: LoginRecord.Key.self).flatMap(owner.pair)
    }
}

/// The availability of a sensor for fingers.
public enum SensorAvailability: Sendable, Hashable {
    /// The kind of a sensor.
    public enum Kind: String, Sendable, Hashable {
        /// A fingerprint reader; the name is react-native-biometrics's.
        case touchID = "TouchID"
    }

    /// The reason why no finger can be used.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// There is no usable reader, or it is ambiguous which one is meant.
        case noReader
        /// The reader that fingers are enrolled for is not connected.
        case disconnected
        /// No finger is enrolled for the reader.
        case notEnrolled
        /// Fingers are locked, since too many touches did not match.
        case lockedOut
        /// The person has told this program not to use fingers.
        case optedOut
        /// The enrolled fingers were changed from outside, or are an older state.
        case notTrusted
        /// The state directory, or the chip that protects it, cannot be used.
        case storeFailed
        /// Anything else.
        case other
    }

    /// A finger can be used.
    case available(Kind)
    /// No finger can be used, for this reason; the error has the message for people, and the recovery.
    case unavailable(Obstacle, ServiceError)

    init(_ preflight: Preflight) {
        self = preflight.obstacle.map { .unavailable(Obstacle($0.code), $0) } ?? .available(.touchID)
    }
}

extension SensorAvailability.Obstacle {
    fileprivate init(_ code: ServiceError.Code) {
        self =
            switch code {
            case .readerNotChosen: .noReader
            case .biometryDisconnected: .disconnected
            case .biometryNotEnrolled: .notEnrolled
            case .biometryLockout: .lockedOut
            case .biometryOptedOut: .optedOut
            case .readerInUse: .other
            default:
                switch code.category {
                case .readerUnavailable: .noReader
                case .noLongerValid: .notTrusted
                case .storage, .chipUnavailable: .storeFailed
                default: .other
                }
            }
    }
}
