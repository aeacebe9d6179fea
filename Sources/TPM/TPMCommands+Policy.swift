// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import SecretMemory

extension TPMCommands {
    /// The digest that the TPM itself computes for what these credentials meet; for tests of the computation.
    ///
    /// It is of a real session. In a trial session TPM2_PolicyOR believes any list of branches.
    public func provedDigest(
        _ policy: Policy,
        under root: StorageRoot,
        credentials: Credentials
    ) throws(TPMError) -> PolicyDigest {
        try connection.withSequence(root) { (root) throws(TPMError) in
            let session = try connection.session(
                meeting: policy,
                with: credentials,
                root: root,
                needed: nil
            )
            var digest: UnsafeMutablePointer<TPM2B_DIGEST>?
            let handle = session.handle
            try connection.call("TPM2_PolicyGetDigest") {
                Esys_PolicyGetDigest($0, handle, Fixed.none, Fixed.none, Fixed.none, &digest)
            }
            return try CMemory.take(digest, of: "TPM2_PolicyGetDigest") {
                PolicyDigest(bytes: $0.pointee.bytes)
            }
        }
    }
}

extension Connection {
    /// A policy session that has met a policy.
    ///
    /// Where the chip refuses one of the ways that the credentials suffice for, the next one is tried in a new session.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - credentials: What meets it.
    ///   - root: The storage root, which the session is salted to.
    ///   - needed: The object that the session is for, which should stay loaded.
    /// - Returns: The session.
    /// - Throws: What any of the commands throws, of the last way that was tried; nothing is left of it then.
    func session(
        meeting policy: Policy,
        with credentials: Credentials,
        root: ESYS_TR,
        needed: TPMName?
    ) throws(TPMError) -> Session {
        // Before any command, so that a caller without the means costs none.
        var ways = try policy.ways(with: credentials)[...]
        while let way = ways.popFirst() {
            do throws(TPMError) {
                return try session(along: way, root: root, needed: needed)
            } catch {
                guard error.closesOneWay, !ways.isEmpty else { throw error }
            }
        }
        throw TPMError(.missingCredential)
    }

    private func session(along way: [PolicyStep], root: ESYS_TR, needed: TPMName?) throws(TPMError) -> Session
    {
        let authorities = way.compactMap {
            if case .secret(let authority) = $0 { authority.object.name } else { nil }
        }
        cache.announce(Set(authorities + [needed].compactMap(\.self)))
        let session = try Session(.policy, saltedTo: root, on: self)
        try run(way, on: session, root: root)
        return session
    }

    fileprivate func run(
        _ steps: [PolicyStep],
        on session: borrowing Session,
        root: ESYS_TR
    ) throws(TPMError) {
        let policy = session.handle
        for step in steps {
            switch step {
            case .secret(let authority): try meetSecret(authority, policy: policy, root: root)
            case .counter(let counter, let value): try meetCounter(counter, value, policy: policy)
            case .authValue:
                try call("TPM2_PolicyAuthValue") {
                    Esys_PolicyAuthValue($0, policy, Fixed.none, Fixed.none, Fixed.none)
                }
            case .pcrs(let selection, let digest): try meetPCRs(selection, digest, policy: policy)
            case .or(let branches): try meetChoice(branches, policy: policy)
            }
        }
    }

    /// TPM2_PolicySecret, authorized by a salted HMAC session: the value itself never crosses the bus.
    private func meetSecret(_ authority: Credentials.Authority, policy: ESYS_TR, root: ESYS_TR)
        throws(TPMError)
    {
        let object = try LoadedObject(authority.object, under: root, on: self)
        let session = try AuthorizingSession(saltedTo: root, on: self)
        let (authorityHandle, sessionHandle) = (object.handle, session.handle)
        try withAuth(authority.auth.bytes, of: authorityHandle) { () throws(TPMError) in
            try call("TPM2_PolicySecret") {
                Esys_PolicySecret(
                    $0,
                    authorityHandle,
                    policy,
                    sessionHandle,
                    Fixed.none,
                    Fixed.none,
                    nil,
                    nil,
                    nil,
                    0,
                    nil,
                    nil
                )
            }
        }
    }

    private func meetCounter(_ counter: NVCounter, _ value: UInt64, policy: ESYS_TR) throws(TPMError) {
        var operand = try TPM2B_DIGEST(public: value.bigEndianBytes)
        try withCounter(counter) { (index) throws(TPMError) in
            // The counter is read by its own value, which is empty: nothing to hide.
            try call("TPM2_PolicyNV") {
                Esys_PolicyNV(
                    $0,
                    index,
                    index,
                    policy,
                    Fixed.password,
                    Fixed.none,
                    Fixed.none,
                    &operand,
                    0,
                    TPM2_EO_EQ
                )
            }
        }
    }

    private func meetPCRs(_ selection: PCRSelection, _ digest: [UInt8], policy: ESYS_TR) throws(TPMError) {
        var registers = selection.structure
        var digest = try TPM2B_DIGEST(public: digest)
        do throws(TPMError) {
            try call("TPM2_PolicyPCR") {
                Esys_PolicyPCR($0, policy, Fixed.none, Fixed.none, Fixed.none, &digest, &registers)
            }
        } catch {
            // Other values now than in the policy: TPM_RC_VALUE of the digest.
            throw error.culprit == .parameter(1) ? error.told(as: .policyFailed) : error
        }
    }

    private func meetChoice(_ branches: [PolicyDigest], policy: ESYS_TR) throws(TPMError) {
        var list = TPML_DIGEST()
        let digests = Choice.padded(branches)
        list.count = UInt32(digests.count)
        for (index, digest) in digests.enumerated() {
            let value = try TPM2B_DIGEST(public: digest.bytes)
            withUnsafeMutableBytes(of: &list.digests) { bytes in
                bytes.bindMemory(to: TPM2B_DIGEST.self)[index] = value
            }
        }
        do throws(TPMError) {
            try call("TPM2_PolicyOR") {
                Esys_PolicyOR($0, policy, Fixed.none, Fixed.none, Fixed.none, &list)
            }
        } catch {
            throw error.culprit == .parameter(1) ? error.told(as: .policyFailed) : error
        }
    }
}
