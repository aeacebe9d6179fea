// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import LoginAssertion
public import WhorlService

/// A key pair that signs only after its owner authenticates, with an API that uses the names of
/// react-native-biometrics.
///
///     let keys = BiometricKeys()
///     let publicKey = try await keys.createKeys()                     // to the server: publicKey.der
///     let signature = try await keys.createSignature(promptMessage: "sign in", payload: challenge)
///
/// Use it with your own servers, if they issue bytes and accept a signature over them; ``LoginClient`` implements a
/// complete protocol. A program may have several pairs with different names.
public struct BiometricKeys: Sendable {
    /// The name of the pair within the program.
    public let name: String
    /// The options for creating and using keys.
    public let options: LoginOptions
    private let surroundings: @Sendable () -> ContextParts

    /// Creates an interface to the pair with the given name in a custom environment, without creating a key.
    package init(_ name: String, options: LoginOptions, parts: @escaping @Sendable () -> ContextParts) {
        self.name = name
        self.options = options
        surroundings = parts
    }

    /// Returns whether a prompt for a finger could currently succeed, or the reason why not, without showing a prompt.
    public func isSensorAvailable() async -> SensorAvailability {
        SensorAvailability(await Owner(parts: surroundings(), options: options).preflight())
    }

    /// Creates a pair, replacing the current one, without showing a prompt.
    ///
    /// - Returns: The public key; a server stores `LoginKey.der` (SubjectPublicKeyInfo), in Base64 as
    ///   `der.base64EncodedString()`.
    /// - Throws: `service` if no finger is enrolled or the machine cannot create a pair.
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

    /// Returns whether a usable pair exists, without showing a prompt.
    public func keysExist() async throws(LoginError) -> Bool {
        let (owner, records) = desk()
        guard let pair = try await pair(records) else { return false }
        return try await owner.loss(of: pair.item, madeFor: pair.record.fingers) == nil
    }

    /// Returns the public key; `nil` if no pair exists.
    public func publicKey() async throws(LoginError) -> LoginKey? { try await pair(desk().records)?.key }

    /// Deletes the pair permanently, without showing a prompt.
    ///
    /// - Returns: Whether a pair existed.
    @discardableResult
    public func deleteKeys() async throws(LoginError) -> Bool { try await desk().records.delete(name) }

    /// Prompts the owner, and returns a signature that is made in the TPM.
    ///
    /// - Parameters:
    ///   - promptMessage: The reason shown in the prompt; it must not be empty or blank.
    ///   - payload: The bytes to sign, of any size; the TPM receives their SHA-256 digest.
    /// - Returns: The signature over the payload: ECDSA with P-256 and SHA-256, DER (RFC 3279, 2.2.3).
    /// - Throws: `notEnabled` if no pair exists; `mustEnableAgain` if the pair is no longer usable, until
    ///   ``createKeys()`` replaces it or ``deleteKeys()`` is called; `service`.
    public func createSignature(promptMessage: String, payload: Data) async throws(LoginError) -> Data {
        let (owner, records) = desk()
        guard let pair = try await pair(records) else { throw LoginError(.notEnabled) }
        if let loss = try await owner.loss(of: pair.item, madeFor: pair.record.fingers) {
            throw LoginError(.mustEnableAgain(loss))
        }
        return try await owner.signAsking(payload, with: pair.item, promptMessage).der
    }

    /// Prompts for a finger (or the passcode, if the options allow it), without using a key.
    ///
    /// - Returns: `true` if the owner was authenticated; `false` if the user cancelled.
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

/// The availability of a fingerprint sensor.
public enum SensorAvailability: Sendable, Hashable {
    /// The type of a sensor.
    public enum Kind: String, Sendable, Hashable {
        /// A fingerprint reader, with the name that react-native-biometrics uses.
        case touchID = "TouchID"
    }

    /// The reason why fingers cannot be used.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// No usable reader was found, or the choice is ambiguous.
        case noReader
        /// The reader with enrolled fingers is not connected.
        case disconnected
        /// No finger is enrolled for the reader.
        case notEnrolled
        /// Fingers are locked out after too many failed touches.
        case lockedOut
        /// The user has disabled fingers for this program.
        case optedOut
        /// The enrolled fingers were tampered with, or are from an older state.
        case notTrusted
        /// The state directory, or the TPM that protects it, cannot be used.
        case storeFailed
        /// Any other reason.
        case other
    }

    /// Fingers can be used with a sensor of this type.
    case available(Kind)
    /// Fingers cannot be used for this reason; the error contains the message to display and the remedy.
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
