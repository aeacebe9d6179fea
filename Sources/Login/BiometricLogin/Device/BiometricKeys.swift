// SPDX-License-Identifier: Apache-2.0

internal import Authentication
package import AuthenticationContext
public import Foundation
public import LoginAssertion
internal import Vault

/// A key pair whose private half signs only for its owner, with the names that react-native-biometrics has.
///
///     let keys = BiometricKeys()
///     let publicKey = try await keys.createKeys()                     // to the server: publicKey.der
///     let signature = try await keys.createSignature(promptMessage: "sign in", payload: challenge)
///
/// It is for servers of one's own that give bytes and take a signature over them; ``LoginClient`` has a protocol on top.
/// A program may have several pairs, each under a name.
public struct BiometricKeys: Sendable {
    /// The pair's name within the program.
    public let name: String
    /// How keys are made and used.
    public let options: LoginOptions
    private let surroundings: @Sendable () -> ContextParts

    /// A name for a pair; nothing is made yet.
    ///
    /// - Parameters:
    ///   - name: 1 to 128 bytes; another one for each pair.
    ///   - options: How it is made and used. Of the passcode as the other way the package of that name has
    ///     `allowDeviceCredentials`; it is on here if nothing is said.
    public init(_ name: String = "biometric", options: LoginOptions = LoginOptions()) {
        self.init(name, options: options) { .current }
    }

    package init(_ name: String, options: LoginOptions, parts: @escaping @Sendable () -> ContextParts) {
        self.name = name
        self.options = options
        surroundings = parts
    }

    /// Whether a finger could be asked for now, and if not, why; nobody is asked.
    public func isSensorAvailable() async -> SensorAvailability {
        SensorAvailability(await Owner(parts: surroundings(), options: options).preflight())
    }

    /// Makes a pair, in place of the one that is there; nobody is asked.
    ///
    /// - Returns: The public half; `LoginKey.der` is what a server stores (SubjectPublicKeyInfo), in Base64 as
    ///   `der.base64EncodedString()`.
    /// - Throws: `evaluation` where no finger is enrolled; `vault`, `store`, `keychain`.
    public func createKeys() async throws(LoginError) -> LoginKey {
        let (owner, records) = desk()
        let now = await owner.preflight()
        if let obstacle = now.obstacle, obstacle.code != .biometryLockout {
            throw LoginError(.evaluation(obstacle))
        }
        let access: AccessControl
        do { access = try options.access(withPasscode: now.isPasscodeSet) } catch {
            throw LoginError(.vault(error))
        }
        let item = try await owner.makeKey(access)
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

    /// Whether there is a pair that can still sign; nobody is asked.
    public func keysExist() async throws(LoginError) -> Bool {
        let (owner, records) = desk()
        guard let pair = try await pair(records) else { return false }
        return try await owner.loss(of: pair.item, madeFor: pair.record.fingers) == nil
    }

    /// The public half; `nil` where there is no pair.
    public func publicKey() async throws(LoginError) -> LoginKey? { try await pair(desk().records)?.key }

    /// Deletes the pair for good; nobody is asked.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func deleteKeys() async throws(LoginError) -> Bool { try await desk().records.delete(name) }

    /// Asks the owner, and has the chip sign.
    ///
    /// - Parameters:
    ///   - promptMessage: Why; it is shown, and must hold something besides white space.
    ///   - payload: What is signed, of any size; the chip gets its SHA-256.
    /// - Returns: The signature over the payload: ECDSA with P-256 and SHA-256, DER (RFC 3279, 2.2.3).
    /// - Throws: `notEnabled` without a pair; `mustEnableAgain` where it is of no use any more: it stays until
    ///   ``createKeys()`` makes another one in its place, or ``deleteKeys()`` is called; `evaluation`, `vault`, `store`, `keychain`.
    public func createSignature(promptMessage: String, payload: Data) async throws(LoginError) -> Data {
        let (owner, records) = desk()
        guard let pair = try await pair(records) else { throw LoginError(.notEnabled) }
        if let loss = try await owner.loss(of: pair.item, madeFor: pair.record.fingers) {
            throw LoginError(.mustEnableAgain(loss))
        }
        return try await owner.signAsking(payload, with: pair.item, promptMessage).der
    }

    /// Asks for a finger (and the passcode, where the options take it), for what needs no key.
    ///
    /// - Returns: `true` when the owner was there; `false` when the person cancelled.
    /// - Throws: `evaluation` for everything else that is not a success.
    public func simplePrompt(promptMessage: String) async throws(LoginError) -> Bool {
        let owner = desk().owner
        do throws(LoginError) {
            _ = try await owner.recognise(
                for: options.takesPasscode ? .userPresence : .biometryAny,
                promptMessage
            )
            return true
        } catch {
            switch error.code {
            case .evaluation(let failure) where failure.code == .userCancel: return false
            default: throw error
            }
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
