// SPDX-License-Identifier: Apache-2.0

package import WhorlSecretMemory

/// The credentials with which a caller can satisfy policies.
package struct Credentials: Sendable {
    struct Authority: Sendable {
        let object: TPMObject
        let auth: SecretBox
    }

    private(set) var authorities: [TPMName: Authority] = [:]

    /// The authorization value of the object to use, for ``TPMPolicy/authValue``.
    ///
    /// It is `nil` if the object has none.
    package var authValue: SecretBox?

    /// Creates empty credentials.
    package init() {}

    /// Adds the authorization value of an authority, which satisfies ``TPMPolicy/secret(of:)`` with the authority's
    /// name.
    package mutating func add(_ object: TPMObject, auth: SecretBox) {
        authorities[object.name] = Authority(object: object, auth: auth)
    }

    /// Returns whether these credentials can satisfy a policy as far as that depends on the caller.
    ///
    /// Only the TPM can check counters and PCRs.
    package func suffice(for policy: TPMPolicy) -> Bool {
        switch policy {
        case .secret(let name): authorities[name] != nil
        case .authValue: authValue != nil
        case .counter, .pcrs: true
        case .all(let policies): policies.allSatisfy(suffice)
        case .any(let policies): policies.contains(where: suffice)
        }
    }
}

extension TPMPolicy {
    /// Returns the sequences of steps that are possible with these credentials.
    ///
    /// Each sequence satisfies this policy through different branches.
    ///
    /// Sequences that depend on a counter or on PCRs come last, because the TPM may reject them even with the right
    /// credentials.
    ///
    /// - Returns: At least one sequence.
    /// - Throws: ``TPMError/Code-swift.enum/missingCredential``.
    func ways(with credentials: Credentials, after before: PolicyDigest = .zero) throws(TPMError)
        -> [[PolicyStep]]
    {
        switch self {
        case .secret(let name):
            guard let authority = credentials.authorities[name] else { throw TPMError(.missingCredential) }
            return [[.secret(authority)]]
        case .authValue:
            guard credentials.authValue != nil else { throw TPMError(.missingCredential) }
            return [[.authValue]]
        case .counter(let counter, let value): return [[.counter(counter, value)]]
        case .pcrs(let selection, let digest): return [[.pcrs(selection, digest)]]
        case .all(let policies):
            var ways: [[PolicyStep]] = [[]]
            var digest = before
            for policy in policies {
                let further = try policy.ways(with: credentials, after: digest)
                ways = ways.flatMap { way in further.map { way + $0 } }
                digest = policy.digest(after: digest)
            }
            return ways
        case .any(let policies):
            let choice = Choice(of: policies, after: before)
            var (certain, refusable): ([[PolicyStep]], [[PolicyStep]]) = ([], [])
            for (index, policy) in policies.enumerated() where credentials.suffice(for: policy) {
                let path = choice.path(ofBranch: index).map(PolicyStep.or)
                let ways = try policy.ways(with: credentials, after: before).map { $0 + path }
                if policy.dependsOnMachine { refusable += ways } else { certain += ways }
            }
            guard !(certain.isEmpty && refusable.isEmpty) else { throw TPMError(.missingCredential) }
            return certain + refusable
        }
    }

    /// Whether the TPM may reject the policy even with the right credentials.
    private var dependsOnMachine: Bool {
        switch self {
        case .counter, .pcrs: true
        case .secret, .authValue: false
        case .all(let policies), .any(let policies): policies.contains(where: \.dependsOnMachine)
        }
    }
}

extension TPMError {
    /// Whether the TPM has rejected one way of satisfying a policy while another one may still work.
    ///
    /// This does not include a wrong authorization value, because the TPM may have counted it as a failure.
    var closesOneWay: Bool {
        switch code {
        case .policyFailed, .nvMissing, .nvUnwritten, .lockout: true
        default: false
        }
    }
}

/// A command that is run on a policy session.
enum PolicyStep {
    case secret(Credentials.Authority)
    case counter(NVCounter, UInt64)
    case authValue
    case pcrs(PCRSelection, [UInt8])
    case or([PolicyDigest])
}
