// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import FoundationEssentials
import WhorlSecretMemory
import WhorlStateStore
import WhorlService
import WhorlSupport

/// The derivation of the 32 bytes that the TPM compares from a passcode, using scrypt (RFC 7914) with a random salt.
///
/// The TPM counts failed attempts. In addition, the derivation protects against an attacker who physically opens the
/// TPM or reads its bus, because each guess costs the memory and the time below.
struct PasscodeDerivation: Sendable, Hashable {
    /// The cost of a new derivation, which is 32 MiB of memory and about a tenth of a second on an ordinary machine.
    static let standardCost: UInt8 = 15
    /// The costs that are accepted from the database, which correspond to 16 MiB to 256 MiB of memory.
    ///
    /// Because of these limits, a forged row can neither make guessing cheap nor exhaust the memory.
    static let costs: ClosedRange<UInt8> = 14...18

    private static let saltSize = 16
    private static let blockSize = 8
    private static let outputSize = 32

    /// The salt (16 random bytes).
    let salt: Data
    /// The binary logarithm of scrypt's parameter N.
    let cost: UInt8

    /// Creates a derivation with a new salt and the standard cost.
    init(cost: UInt8 = PasscodeDerivation.standardCost) {
        let random = SecretBytes(randomCount: PasscodeDerivation.saltSize)
        self.salt = random.withUnsafeBytes { Data($0) }
        self.cost = cost
    }

    /// Decodes the stored form (version, cost, salt), or returns `nil` for anything else.
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
        return Data(bytes.bytes)
    }

    /// Returns the authorization value for a passcode.
    ///
    /// The derivation runs on a separate thread, because the shared pool has few threads and other tasks need them.
    ///
    /// - Parameters:
    ///   - passcode: The passcode.
    ///   - turn: The proof that it is this derivation's turn (``DerivationQueue``).
    /// - Returns: The authorization value (32 bytes).
    /// - Throws: `passcodeWrongSize`.
    func authorization(
        of passcode: SecretBox,
        in turn: DerivationQueue.Turn
    ) async throws(ServiceError) -> SecretBox {
        guard PasscodeSize.allowed.contains(passcode.bytes.count) else {
            throw ServiceError(.passcodeWrongSize)
        }
        return try await derived(passcode)
    }

    /// Returns the authorization value for an application password of 1 to 1,024 bytes.
    func authorization(
        ofApplicationPassword password: SecretBox,
        in turn: DerivationQueue.Turn
    ) async throws(ServiceError) -> SecretBox {
        guard (1...PasscodeSize.allowed.upperBound).contains(password.bytes.count) else {
            throw ServiceError(.applicationPasswordNeeded)
        }
        return try await derived(password)
    }

    private func derived(_ passcode: SecretBox) async throws(ServiceError) -> SecretBox {
        let result = await onThread("whorl-scrypt") {
            Result { () throws(ServiceError) in try derive(passcode) }
        }
        guard let result else { throw ServiceError(.chipFailed, cause: "the system has no thread left") }
        return try result.get()
    }

    private func derive(_ passcode: SecretBox) throws(ServiceError) -> SecretBox {
        // The pointer is a `DataProtocol` of one region, so no copy is made. The output of scrypt passes through a
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
        guard let key else { throw ServiceError(.chipFailed, cause: "not enough memory for scrypt") }
        return key.withUnsafeBytes { SecretBox(SecretBytes(authorization: $0)) }
    }
}

extension SecretBytes {
    /// Converts bytes to a TPM authorization value.
    ///
    /// The last byte is never zero, because a TPM drops trailing zeros from the value, and other code that uses the
    /// value may not.
    init(authorization bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { room in
            room.copyMemory(from: bytes)
            if let last = room.indices.last { room[last] |= 1 }
        }
    }

    /// Returns 32 random bytes as an authorization value.
    static func randomAuthorization() -> SecretBytes {
        let random = SecretBytes(randomCount: 32)
        return random.withUnsafeBytes { SecretBytes(authorization: $0) }
    }
}
