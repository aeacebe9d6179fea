// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import SecretMemory
import StateStore
import WhorlSupport

/// How a passcode becomes the 32 bytes that the chip compares: scrypt (RFC 7914) with a salt of its own.
///
/// The chip counts wrong tries. The derivation is for whoever gets the chip open or reads its bus: then each guess
/// costs him the memory and the time below.
struct PasscodeDerivation: Sendable, Hashable {
    /// The sizes of a passcode, in bytes.
    static let sizes = 4...1024
    /// 32 MiB, and about a tenth of a second on an ordinary machine.
    static let standardCost: UInt8 = 15
    /// What is accepted from the database: 16 MiB to 256 MiB, so that a forged row can neither make guessing cheap
    /// nor use up the memory.
    static let costs: ClosedRange<UInt8> = 14...18

    private static let saltSize = 16
    private static let blockSize = 8
    private static let outputSize = 32

    /// 16 random bytes.
    let salt: Data
    /// The binary logarithm of scrypt's N.
    let cost: UInt8

    /// A new salt, and today's cost.
    init(cost: UInt8 = PasscodeDerivation.standardCost) {
        let random = SecretBytes(randomCount: PasscodeDerivation.saltSize)
        self.salt = random.withUnsafeBytes { Data($0) }
        self.cost = cost
    }

    /// As stored: version, cost, salt; `nil` for anything else.
    init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        guard bytes.number(UInt8.self) == 1, let cost = bytes.number(UInt8.self),
            PasscodeDerivation.costs.contains(cost), let salt = bytes.take(PasscodeDerivation.saltSize),
            bytes.isAtEnd
        else { return nil }
        self.salt = salt
        self.cost = cost
    }

    var encoded: Data {
        var bytes = ByteWriter()
        bytes.append(UInt8(1))
        bytes.append(cost)
        bytes.append(raw: salt)
        return bytes.data
    }

    /// The authorization value for a passcode, 32 bytes.
    ///
    /// It takes its time on a thread of its own: the shared pool's threads are few, and other tasks need them.
    ///
    /// - Throws: `passcodeWrongSize`.
    func authorization(of passcode: SecretBox) async throws(VaultError) -> SecretBox {
        guard PasscodeDerivation.sizes.contains(passcode.bytes.count) else {
            throw VaultError(.passcodeWrongSize)
        }
        return try await derived(passcode)
    }

    /// The same for an application password of any size from 1 byte to 1,024.
    func authorization(
        ofApplicationPassword password: SecretBox
    ) async throws(VaultError) -> SecretBox {
        guard (1...PasscodeDerivation.sizes.upperBound).contains(password.bytes.count) else {
            throw VaultError(.applicationPasswordNeeded)
        }
        return try await derived(password)
    }

    private func derived(_ passcode: SecretBox) async throws(VaultError) -> SecretBox {
        let result = await onThread("whorl-scrypt") {
            Result { () throws(VaultError) in try derive(passcode) }
        }
        guard let result else { throw VaultError(.chipFailed, cause: "the system has no thread left") }
        return try result.get()
    }

    private func derive(_ passcode: SecretBox) throws(VaultError) -> SecretBox {
        // The pointer is a `DataProtocol` of one region: no copy is made. What scrypt gives passes through a
        // `Data` of swift-crypto, which is freed without being wiped.
        let key = passcode.bytes.withUnsafeBytes { bytes in
            try? KDF.Scrypt.deriveKey(
                from: bytes,
                salt: salt,
                outputByteCount: PasscodeDerivation.outputSize,
                rounds: 1 << Int(cost),
                blockSize: PasscodeDerivation.blockSize,
                parallelism: 1
            )
        }
        guard let key else { throw VaultError(.chipFailed, cause: "scrypt had no memory") }
        return key.withUnsafeBytes { SecretBox(SecretBytes(authorization: $0)) }
    }
}

extension SecretBytes {
    /// Bytes as a TPM's authorization value.
    ///
    /// A TPM drops zeros at the end of one, and what computes with it need not: the last byte is never zero.
    init(authorization bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { room in
            room.copyMemory(from: bytes)
            if let last = room.indices.last { room[last] |= 1 }
        }
    }

    /// 32 random bytes as an authorization value.
    static func randomAuthorization() -> SecretBytes {
        let random = SecretBytes(randomCount: 32)
        return random.withUnsafeBytes { SecretBytes(authorization: $0) }
    }
}
