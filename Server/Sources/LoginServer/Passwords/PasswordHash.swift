// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import LoginAssertion

/// The stored form of a password: its scrypt hash (RFC 7914), with the salt and the cost.
struct PasswordHash: Codable, Equatable {
    /// The cost of one derivation: 128 · rounds · blockSize bytes of memory, and time proportional to rounds ·
    /// blockSize · parallelism.
    struct Cost: Codable, Equatable, Sendable {
        var rounds: Int
        var blockSize: Int
        var parallelism: Int

        /// The standard cost: 16 MiB, and about a tenth of a second on one core (OWASP Password Storage Cheat Sheet,
        /// scrypt).
        static let standard = Cost(rounds: 1 << 14, blockSize: 8, parallelism: 5)
    }

    let cost: Cost
    let salt: Data
    let digest: Data

    /// Creates the hash of a password; deliberately slow.
    init(_ password: PreparedPassword, cost: Cost = .standard) throws {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        let digest = try Self.derive(password.text, salt: salt, cost: cost)
        self.init(cost: cost, salt: salt, digest: digest)
    }

    private init(cost: Cost, salt: Data, digest: Data) {
        self.cost = cost
        self.salt = salt
        self.digest = digest
    }

    /// Returns a hash that no password matches, used for unknown users so that the comparison takes the same time.
    static func nobody(cost: Cost) -> PasswordHash {
        PasswordHash(cost: cost, salt: Data(repeating: 0, count: 16), digest: Data())
    }

    /// Returns whether it is the hash of this password; deliberately slow.
    func matches(_ password: String) -> Bool {
        // PBKDF2 in scrypt pads short passwords with zeros, so a password with trailing zeros would match as well.
        // Prepared passwords have none.
        guard let prepared = PreparedPassword(password),
            let digest = try? Self.derive(prepared.text, salt: salt, cost: cost)
        else { return false }
        return digest.isEqualInConstantTime(to: self.digest)
    }

    private static func derive(_ password: String, salt: Data, cost: Cost) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: Array(password.utf8),
            salt: salt,
            outputByteCount: 32,
            rounds: cost.rounds,
            blockSize: cost.blockSize,
            parallelism: cost.parallelism
        ).withUnsafeBytes { Data($0) }
    }
}
