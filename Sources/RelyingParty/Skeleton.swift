// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

extension RelyingParty {
    public func challenge(
        for user: LoginName,
        device: LoginName,
        purpose: LoginClaims.Purpose,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge { throw RelyingPartyError(.store) }

    public func rawChallenge(
        for user: LoginName,
        device: LoginName?,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge { throw RelyingPartyError(.store) }

    public func enable(
        assertion: String,
        publicKey der: Data,
        name: String,
        as user: LoginName,
        from address: String
    ) async throws(RelyingPartyError) -> RegisteredDevice { throw RelyingPartyError(.store) }

    public func signIn(
        assertion: String,
        from address: String
    ) async throws(RelyingPartyError) -> SignIn { throw RelyingPartyError(.store) }

    public func signIn(
        user: LoginName,
        device: LoginName?,
        challenge: Data,
        signature der: Data,
        from address: String
    ) async throws(RelyingPartyError) -> SignIn { throw RelyingPartyError(.store) }

    public func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice] { [] }
    public func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool { false }
    public func revoke(
        _ device: LoginName,
        of user: LoginName,
        from address: String = ""
    ) async throws(RelyingPartyError) -> Bool { false }
    public func revokeAll(of user: LoginName, from address: String = "") async throws(RelyingPartyError) -> Int { 0 }
    public func rename(
        _ device: LoginName,
        of user: LoginName,
        to name: String,
        from address: String = ""
    ) async throws(RelyingPartyError) -> Bool { false }
    public func audit(
        of user: LoginName?,
        atMost count: Int = 100
    ) async throws(RelyingPartyError) -> [AuditEntry] { [] }
    public func purge() async throws(RelyingPartyError) {}
}
