// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

@Suite struct `A login assertion` {
    @Test func `is read as it was written, and verified by the key that signed it`() throws {
        let device = Device()
        let assertion = try UnverifiedAssertion(try device.assertion())
        let claims = try assertion.verify(with: device.key, expecting: device.expectation, at: Device.now)
        #expect(claims == device.claims())
    }
}

/// A device with a key of software, and a server that knows it.
struct Device {
    static let now = 1_800_000_000
    let privateKey = P256.Signing.PrivateKey()
    var key: LoginKey { LoginKey(x963: privateKey.publicKey.x963Representation)! }
    let challenge = Data((0..<32).map { UInt8($0) })
    let origin = LoginOrigin("https://bank.example")!
    let user = LoginName("ada")!
    let name = LoginName("laptop")!

    var expectation: AssertionExpectation {
        AssertionExpectation(origin: origin, user: user, device: name, challenge: challenge, purpose: .login)
    }

    func claims(app: [String: String] = [:]) -> LoginClaims {
        LoginClaims(
            origin: origin,
            user: user,
            device: name,
            keyID: key.id,
            purpose: .login,
            challenge: challenge,
            issuedAt: Self.now,
            id: Data(repeating: 7, count: 16),
            domainState: Data(repeating: 9, count: 32),
            method: .finger,
            app: app
        )!
    }

    func assertion(_ claims: LoginClaims? = nil) throws -> String {
        let draft = AssertionDraft(claims ?? self.claims())
        return draft.signed(try privateKey.signature(for: draft.signingInput).rawRepresentation)
    }
}
