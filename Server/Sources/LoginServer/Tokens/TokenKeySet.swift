// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion

/// A past, current or future signing key for session tokens.
struct TokenKey: Codable, Equatable {
    /// Its ID in the header of a token (`kid`): the thumbprint of its public half (RFC 7638).
    let id: String
    /// The private scalar, 32 bytes.
    let scalar: Data
    /// The time from which it signs, until a newer key does, in seconds since 1970.
    let signsFrom: Int

    init(signsFrom: Int) {
        let key = P256.Signing.PrivateKey()
        guard let publicKey = LoginKey(x963: key.publicKey.x963Representation) else {
            preconditionFailure("a key of P-256 has a point of P-256")
        }
        id = publicKey.id
        scalar = key.rawRepresentation
        self.signsFrom = signsFrom
    }
}

/// The keys of the server in order, and the rules for adding and dropping them.
///
/// Verifiers may cache the published keys for a while. A key is therefore published before it signs, and stays
/// published until the last token it signed has expired.
struct TokenKeySet: Codable, Equatable {
    /// The time for which a key is published before it signs, in seconds: longer than verifiers cache keys and
    /// instances take to read new ones.
    static let lead = 600
    /// The time for which a key signs before the next one is created, in seconds.
    static let age = 30 * 86_400
    /// The maximum lifetime of a token in seconds; a key that no longer signs is kept for that time.
    static let longestTokenLifetime = 86_400

    /// The keys, oldest first.
    private(set) var keys: [TokenKey]

    /// Creates a set of one new key, which signs immediately, because no other key was published, or all others are
    /// dropped.
    init(at now: Int) {
        keys = [TokenKey(signsFrom: now)]
    }

    /// Returns the signing key; `nil` if a clock was set far back.
    func signing(at now: Int) -> TokenKey? {
        keys.last { $0.signsFrom <= now } ?? keys.first
    }

    func key(_ id: String) -> TokenKey? {
        keys.first { $0.id == id }
    }

    /// Adds a key that will sign later, unless one is already waiting.
    mutating func rotate(at now: Int) {
        guard keys.last.map({ $0.signsFrom <= now }) ?? true else { return }
        keys.append(TokenKey(signsFrom: now + Self.lead))
    }

    /// Applies the rules for the keys' age: adds the next key, and drops those whose tokens have expired.
    mutating func maintain(at now: Int) {
        if let youngest = keys.last, now - youngest.signsFrom >= Self.age { rotate(at: now) }
        while keys.count > 1, keys[1].signsFrom + Self.longestTokenLifetime < now { keys.removeFirst() }
    }
}
