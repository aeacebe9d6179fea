// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import LoginAssertion

/// What is kept of a password: what scrypt makes of it (RFC 7914), with the salt and the cost it was made with.
struct PasswordHash: Codable, Equatable {
    /// What one derivation costs: 128 · rounds · blockSize bytes of memory, and time in proportion to
    /// rounds · blockSize · parallelism.
    struct Cost: Codable, Equatable, Sendable {
        var rounds: Int
        var blockSize: Int
        var parallelism: Int

        /// 16 MiB; about a tenth of a second of one core (OWASP Password Storage Cheat Sheet, scrypt).
        static let standard = Cost(rounds: 1 << 14, blockSize: 8, parallelism: 5)
    }

    /// The longest password in bytes.
    static let longest = 1024

    let cost: Cost
    let salt: Data
    let digest: Data

    /// Takes a password; slow by purpose.
    init(_ password: String, cost: Cost = .standard) throws {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        self.init(cost: cost, salt: salt, digest: try Self.derive(password, salt: salt, cost: cost))
    }

    private init(cost: Cost, salt: Data, digest: Data) {
        self.cost = cost
        self.salt = salt
        self.digest = digest
    }

    /// A hash that no password has: what is compared with where there is no such user, so that it takes as long.
    static func nobody(cost: Cost) -> PasswordHash {
        PasswordHash(cost: cost, salt: Data(repeating: 0, count: 16), digest: Data())
    }

    /// Whether it is the password; slow by purpose.
    func matches(_ password: String) -> Bool {
        // PBKDF2 inside of scrypt fills short passwords with zeros: with some at the end it would be the same.
        guard !password.utf8.contains(0), let digest = try? Self.derive(password, salt: salt, cost: cost)
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
