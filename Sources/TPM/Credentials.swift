// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// What a caller has to meet policies with.
public struct Credentials: Sendable {
    struct Authority: Sendable {
        let object: TPMObject
        let auth: SecretBox
    }

    private(set) var authorities: [TPMName: Authority] = [:]

    /// The authorization value of the object that is used, for ``Policy/authValue``; an empty one where it has none.
    public var authValue: SecretBox?

    /// Has nothing.
    public init() {}

    /// Has the authorization value of an authority, for ``Policy/secret(of:)`` with its name.
    public mutating func add(_ object: TPMObject, auth: SecretBox) {
        authorities[object.name] = Authority(object: object, auth: auth)
    }

    /// Whether these could meet a policy, as far as that depends on the caller.
    ///
    /// A counter and the PCRs are judged by the TPM alone.
    public func suffice(for policy: Policy) -> Bool {
        switch policy {
        case .secret(let name): authorities[name] != nil
        case .authValue: authValue != nil
        case .counter, .pcrs: true
        case .all(let policies): policies.allSatisfy(suffice)
        case .any(let policies): policies.contains(where: suffice)
        }
    }
}

extension Policy {
    /// The steps that meet this policy with what the caller has: the first branch of each choice that these suffice for.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/missingCredential``.
    func steps(with credentials: Credentials, after before: PolicyDigest = .zero) throws(TPMError)
        -> [PolicyStep]
    {
        switch self {
        case .secret(let name):
            guard let authority = credentials.authorities[name] else { throw TPMError(.missingCredential) }
            return [.secret(authority)]
        case .authValue:
            guard credentials.authValue != nil else { throw TPMError(.missingCredential) }
            return [.authValue]
        case .counter(let counter, let value): return [.counter(counter, value)]
        case .pcrs(let selection, let digest): return [.pcrs(selection, digest)]
        case .all(let policies):
            var steps: [PolicyStep] = []
            var digest = before
            for policy in policies {
                steps += try policy.steps(with: credentials, after: digest)
                digest = policy.digest(after: digest)
            }
            return steps
        case .any(let policies):
            guard let index = policies.firstIndex(where: credentials.suffice) else {
                throw TPMError(.missingCredential)
            }
            let choice = Choice(of: policies, after: before)
            return try policies[index].steps(with: credentials, after: before)
                + choice.path(ofBranch: index).map(PolicyStep.or)
        }
    }
}

/// One command on a policy session.
enum PolicyStep {
    case secret(Credentials.Authority)
    case counter(NVCounter, UInt64)
    case authValue
    case pcrs(PCRSelection, [UInt8])
    case or([PolicyDigest])
}
