// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion

/// A key that signs session tokens, now, in a while, or until a while ago.
struct TokenKey: Codable, Equatable {
    /// Its name in the header of a token (`kid`): the thumbprint of its public half (RFC 7638).
    let id: String
    /// The scalar, 32 bytes.
    let scalar: Data
    /// Seconds since 1970; from then on it signs, until a younger one does.
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

/// The keys of the server in their order, and the rules of their coming and going.
///
/// A verifier may keep the published keys for a while. So a key is published before it signs, and stays published
/// until the last token that it signed is over.
struct TokenKeySet: Codable, Equatable {
    /// How long a key is known before it signs, in seconds: longer than verifiers keep the published keys and than
    /// instances take to look for new ones.
    static let lead = 600
    /// How long a key signs before the next one is made, in seconds.
    static let age = 30 * 86_400
    /// The longest that a token may be good, in seconds; so long a key stays that no longer signs.
    static let longestTokenLifetime = 86_400

    /// The oldest first.
    private(set) var keys: [TokenKey]

    /// One new key: nobody has seen another, or none is to count any more, so it signs at once.
    init(at now: Int) {
        keys = [TokenKey(signsFrom: now)]
    }

    /// The key that signs; `nil` where a clock was set far back.
    func signing(at now: Int) -> TokenKey? {
        keys.last { $0.signsFrom <= now } ?? keys.first
    }

    func key(_ id: String) -> TokenKey? {
        keys.first { $0.id == id }
    }

    /// Adds a key that signs in a while, unless there is one that waits.
    mutating func rotate(at now: Int) {
        guard keys.last.map({ $0.signsFrom <= now }) ?? true else { return }
        keys.append(TokenKey(signsFrom: now + Self.lead))
    }

    /// Does what is due by age: adds the next key, drops those whose tokens are over.
    mutating func maintain(at now: Int) {
        if let youngest = keys.last, now - youngest.signsFrom >= Self.age { rotate(at: now) }
        while keys.count > 1, keys[1].signsFrom + Self.longestTokenLifetime < now { keys.removeFirst() }
    }
}
