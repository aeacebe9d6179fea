// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion
internal import WhorlSupport

/// The policy of a device's key, computed from its parts in the same way as the TPM does.
///
/// | unlocked by | policy |
/// |---|---|
/// | any enrolled finger | PolicySecret(authority) |
/// | the fingers enrolled at the time | PolicySecret(authority) ∧ PolicyNV(counter == value) |
/// | the passcode as well | PolicyOR of one of these and PolicySecret(passcode) |
///
/// Keys with any other policy are refused. Source: TPM 2.0 Library Part 3, the "policyDigest" formula of each command.
struct KeyPolicy: Sendable, Hashable {
    let digest: Data
    let fingers: KeyAttestation.Fingers
    let takesPasscode: Bool

    /// Computes the policy; returns `nil` if a part is not suitable for its purpose.
    init?(_ statement: AttestationStatement) {
        guard let authority = TPMPublicArea(statement.authority), authority.isAuthority else { return nil }
        let shown = Self.secret(of: authority.name)
        var finger = shown
        if statement.counter.isEmpty {
            guard statement.counterValue == 0 else { return nil }
            fingers = .any
        } else {
            guard let counter = TPMCounter(statement.counter), counter.writePolicy == shown else {
                return nil
            }
            finger = Self.extended(
                finger,
                .policyNV,
                Self.equal(statement.counterValue) + counter.name
            )
            fingers = .current
        }
        takesPasscode = !statement.passcode.isEmpty
        guard takesPasscode else {
            digest = finger
            return
        }
        guard let passcode = TPMPublicArea(statement.passcode), passcode.isCountedAuthority,
            passcode.name != authority.name
        else { return nil }
        digest = Self.extended(Self.zero, .policyOR, finger + Self.secret(of: passcode.name))
    }

    private enum Command: UInt32 {
        case policyNV = 0x149
        case policySecret = 0x151
        case policyOR = 0x171
    }

    private static let zero = Data(count: 32)

    private static func secret(of name: Data) -> Data {
        // The second extension is by policyRef, which is empty.
        Data(SHA256.hash(data: extended(zero, .policySecret, name)))
    }

    /// Returns the digest of operandB, offset and operation for an equality test of eight bytes at offset 0.
    private static func equal(_ value: UInt64) -> Data {
        var arguments = ByteWriter()
        arguments.append(value)
        arguments.append(UInt32(0))
        return Data(SHA256.hash(data: arguments.bytes))
    }

    private static func extended(_ digest: Data, _ command: Command, _ arguments: Data) -> Data {
        var bytes = ByteWriter(digest)
        bytes.append(command.rawValue)
        bytes.append(raw: arguments)
        return Data(SHA256.hash(data: bytes.bytes))
    }
}

/// The public area of a counter in a TPM, TPMS_NV_PUBLIC, with the attributes that devices set.
///
/// Source: TPM 2.0 Library Part 2, 13.5 and 13.6.
struct TPMCounter: Sendable, Hashable {
    /// The attributes of a counter that can be incremented only with its policy, that has been incremented, and that
    /// can be read with its empty authorization value.
    private static let attributes: UInt32 = 1 << 4 | 1 << 3 | 1 << 18 | 1 << 25 | 1 << 29

    /// The digest of the policy that is required to increment the counter.
    let writePolicy: Data
    /// The counter's name, 34 bytes.
    let name: Data

    /// Parses a public area; returns `nil` for anything else.
    init?(_ area: Data) {
        var bytes = ByteReader(area)
        guard bytes.number(UInt32.self) != nil, bytes.number(UInt16.self) == TPMAlgorithm.sha256,
            bytes.number(UInt32.self) == Self.attributes, let policy = bytes.sized(by: UInt16.self),
            policy.count == 32, bytes.number(UInt16.self) == 8, bytes.isAtEnd
        else { return nil }
        writePolicy = Data(policy)
        name = TPMAlgorithm.name(of: area)
    }
}
