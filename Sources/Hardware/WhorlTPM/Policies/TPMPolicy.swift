// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Crypto

/// A condition for using an object or incrementing a counter.
///
/// The digest is computed here without a TPM. The TPM computes it again from the actual proofs and compares the two.
package indirect enum TPMPolicy: Sendable, Hashable {
    /// The caller knows the authorization value of the object with this name (TPM2_PolicySecret).
    case secret(of: TPMName)
    /// The counter has this value (TPM2_PolicyNV, equal).
    case counter(NVCounter, equals: UInt64)
    /// The caller knows the object's own authorization value (TPM2_PolicyAuthValue).
    case authValue
    /// The registers' values have this 32-byte digest (TPM2_PolicyPCR).
    case pcrs(PCRSelection, digest: [UInt8])
    /// All of the policies are satisfied, in this order.
    case all([TPMPolicy])
    /// One of the policies is satisfied (TPM2_PolicyOR).
    ///
    /// More than eight policies are combined in groups, because the command accepts at most eight. An empty list can
    /// never be satisfied.
    case any([TPMPolicy])

    /// The digest that an object contains as its policy.
    package var digest: PolicyDigest { digest(after: .zero) }

    /// Returns the digest of a session that had the digest `before` and then satisfied this policy.
    ///
    /// Source: TPM 2.0 Library Part 3, the "policyDigest" formula of each command.
    func digest(after before: PolicyDigest) -> PolicyDigest {
        switch self {
        case .secret(let name):
            // The second extension is by policyRef, which is empty.
            before.extended(.policySecret, name.bytes).extended([])
        case .counter(let counter, let value):
            before.extended(
                .policyNV,
                Array(SHA256.hash(data: Self.counterArguments(value))) + counter.name.bytes
            )
        case .authValue: before.extended(.policyAuthValue, [])
        case .pcrs(let selection, let digest): before.extended(.policyPCR, selection.bytes + digest)
        case .all(let policies): policies.reduce(before) { $1.digest(after: $0) }
        case .any(let policies): Choice(of: policies, after: before).digest
        }
    }

    /// Returns operandB (eight bytes), the offset (0) and the operation (equal) in the form in which they are hashed.
    private static func counterArguments(_ value: UInt64) -> [UInt8] {
        value.bigEndianBytes + UInt16(0).bigEndianBytes + UInt16(TPM2_EO_EQ).bigEndianBytes
    }
}

/// A TPM2_PolicyOR command, or a tree of several such commands.
struct Choice {
    /// The lists of digests to combine, starting with the branches.
    ///
    /// Each list has at most eight digests.
    let levels: [[[PolicyDigest]]]

    init(of policies: [TPMPolicy], after before: PolicyDigest) {
        var level = Self.groups(of: policies.map { $0.digest(after: before) })
        var levels = [level]
        while level.count > 1 {
            level = Self.groups(of: level.map(Self.digest))
            levels.append(level)
        }
        self.levels = levels
    }

    var digest: PolicyDigest { levels.last?.first.map(Self.digest) ?? Self.digest([]) }

    /// Returns the lists for a session that has satisfied the branch with this index.
    func path(ofBranch index: Int) -> [[PolicyDigest]] {
        var index = index
        return levels.map { level in
            index /= Self.most
            return level[index]
        }
    }

    private static let most = 8

    private static func groups(of digests: [PolicyDigest]) -> [[PolicyDigest]] {
        stride(from: 0, to: digests.count, by: most).map {
            Array(digests[$0..<min($0 + most, digests.count)])
        }
    }

    /// Returns the digest after a TPM2_PolicyOR command.
    ///
    /// It starts from zeros because the branches' digests include everything that came before.
    private static func digest(_ branches: [PolicyDigest]) -> PolicyDigest {
        PolicyDigest.zero.extended(.policyOR, padded(branches).flatMap(\.bytes))
    }

    /// Returns at least two digests, as the command requires, by repeating a single one.
    static func padded(_ branches: [PolicyDigest]) -> [PolicyDigest] {
        branches.count == 1 ? branches + branches : branches
    }
}

/// The command codes that are included in policy digests.
///
/// The corresponding C constants are `TPM2_CC_Policy…`.
enum PolicyCommand: UInt32 {
    case policyNV = 0x149
    case policySecret = 0x151
    case policyAuthValue = 0x16b
    case policyOR = 0x171
    case policyPCR = 0x17f
}

extension PolicyDigest {
    /// The policy digest of a new session.
    static let zero = PolicyDigest(bytes: Array(repeating: 0, count: 32))

    func extended(_ command: PolicyCommand, _ bytes: [UInt8]) -> PolicyDigest {
        extended(command.rawValue.bigEndianBytes + bytes)
    }

    func extended(_ bytes: [UInt8]) -> PolicyDigest {
        PolicyDigest(bytes: Array(SHA256.hash(data: self.bytes + bytes)))
    }
}
