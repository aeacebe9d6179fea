// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import WhorlSecretMemory

extension Connection {
    /// Returns a policy session that satisfies a policy.
    ///
    /// If the TPM rejects one of the possible ways to satisfy the policy with the credentials, the next one is tried in
    /// a new session.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - credentials: The credentials that satisfy the policy.
    ///   - root: The storage root that the session is salted to.
    ///   - needed: The object that will be used in the session, which should stay loaded.
    /// - Returns: The session.
    /// - Throws: The error from the last attempt. No session is left in that case.
    func session(
        meeting policy: TPMPolicy,
        with credentials: Credentials,
        root: ESYS_TR,
        needed: TPMName?
    ) throws(TPMError) -> Session {
        // Checked before any command, so that nothing is sent for a caller without the credentials.
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
        let session = try policySession(isToBeAuthorized: !authorities.isEmpty, root: root)
        try run(way, on: session, root: root)
        return session
    }

    /// Starts a policy session, and authenticates its nonce if an authority will authorize the session.
    private func policySession(isToBeAuthorized: Bool, root: ESYS_TR) throws(TPMError) -> Session {
        guard isToBeAuthorized else { return try Session(.policy, saltedTo: root, on: self) }
        let authenticator = try AuthorizingSession(saltedTo: root, on: self)
        let isFresh = authenticator.isFresh
        do throws(TPMError) {
            return try Session(.policy, saltedTo: root, authenticatedBy: authenticator.handle, on: self)
        } catch {
            guard error.code == .authFailed else { throw error }
            // Another key has decrypted the salt. Or the cached session no longer exists, and its handle belongs to
            // another program.
            guard !isFresh else { throw error.told(as: .foreignRoot) }
            cache.forgetSession(on: self)
            throw error.told(as: .reset)
        }
    }

    private func run(
        _ steps: [PolicyStep],
        on session: borrowing Session,
        root: ESYS_TR
    ) throws(TPMError) {
        let policy = session.handle
        for step in steps {
            switch step {
            case .secret(let authority): try meetSecret(authority, policy: session, root: root)
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

    /// Runs TPM2_PolicySecret, which is authorized by a salted HMAC session so that the value itself is never sent over
    /// the bus.
    ///
    /// The TPM compares the nonce with that of the policy session. It therefore authorizes only the session that was
    /// returned to ``Session/init(_:saltedTo:authenticatedBy:on:)``, even if an interposer replaced the handle.
    private func meetSecret(
        _ authority: Credentials.Authority,
        policy: borrowing Session,
        root: ESYS_TR
    ) throws(TPMError) {
        let object = try LoadedObject(authority.object, under: root, on: self)
        let session = try AuthorizingSession(saltedTo: root, on: self)
        var nonce = try policy.nonce
        let (authorityHandle, sessionHandle, policyHandle) = (object.handle, session.handle, policy.handle)
        do throws(TPMError) {
            try withAuth(authority.auth.bytes, of: authorityHandle) { () throws(TPMError) in
                try call("TPM2_PolicySecret") {
                    Esys_PolicySecret(
                        $0,
                        authorityHandle,
                        policyHandle,
                        sessionHandle,
                        Fixed.none,
                        Fixed.none,
                        &nonce,
                        nil,
                        nil,
                        0,
                        nil,
                        nil
                    )
                }
            }
        } catch {
            // TPM_RC_NONCE: the handle belongs to another session.
            throw error.faultyPart == .parameter(1) ? error.told(as: .alteredAnswer) : error
        }
    }

    private func meetCounter(_ counter: NVCounter, _ value: UInt64, policy: ESYS_TR) throws(TPMError) {
        var operand = try TPM2B_DIGEST(public: value.bigEndianBytes)
        try withCounter(counter) { (index) throws(TPMError) in
            // The counter is read with its empty authorization value, which is not a secret.
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

    /// Makes a call that satisfies a part of a policy, or throws `policyFailed` if a value differs from that in the
    /// policy.
    private func callPolicy(_ command: String, _ body: (OpaquePointer) -> TSS2_RC) throws(TPMError) {
        do throws(TPMError) {
            try call(command, body)
        } catch {
            throw error.faultyPart == .parameter(1) ? error.told(as: .policyFailed) : error
        }
    }

    private func meetPCRs(_ selection: PCRSelection, _ digest: [UInt8], policy: ESYS_TR) throws(TPMError) {
        var registers = selection.structure
        var digest = try TPM2B_DIGEST(public: digest)
        // The registers may have different values than in the policy: TPM_RC_VALUE of the digest.
        try callPolicy("TPM2_PolicyPCR") {
            Esys_PolicyPCR($0, policy, Fixed.none, Fixed.none, Fixed.none, &digest, &registers)
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
        try callPolicy("TPM2_PolicyOR") {
            Esys_PolicyOR($0, policy, Fixed.none, Fixed.none, Fixed.none, &list)
        }
    }
}
