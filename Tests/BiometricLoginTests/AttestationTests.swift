// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation
import RelyingParty
import SoftwareTPM
import Synchronization
import Testing

/// A device whose TPM proves to the relying party that servers use what guards the login's key.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A login whose key is attested` {
    private let tpm: SoftwareTPM
    private let certificate: [UInt8]
    private let machine: Machine
    private let ada: LoginName

    init() async throws {
        tpm = try SoftwareTPM()
        certificate = try tpm.certify()
        machine = try await Machine(tpm: tpm)
        ada = try user("ada")
    }

    private func client(
        of server: RealServer,
        on machine: Machine? = nil,
        _ change: (inout LoginOptions) -> Void = { _ in }
    ) -> LoginClient {
        var options = LoginOptions()
        options.attests = true
        change(&options)
        let parts = (machine ?? self.machine).parts
        return LoginClient(server: server.origin, transport: server, options: options) { parts }
    }

    private func enable(_ client: LoginClient) async throws(LoginError) -> EnabledLogin {
        try await client.enable(ada, with: .password(secret("password")), deviceName: "laptop")
    }

    @Test func `is enabled with one touch, and the server knows which fingers open it`() async throws {
        let server = try RealServer(of: ada, trusting: [certificate])
        let login = try await enable(client(of: server))
        #expect(machine.prompts.count == 1)
        let device = try #require(try await server.party.devices(of: ada).first)
        #expect(device.keyID == login.keyID)
        #expect(device.attestation?.level == .tpm)
        #expect(device.attestation?.opensFor == ["current_fingers"])
        #expect(try tpm.leaks().filter { $0 >> 24 == 0x80 }.count <= 2, "what stays loaded for speed")
    }

    @Test(arguments: [SoftwareTPM.Endorsement.rsa2048, .keptRSA2048])
    func `is enabled where the TPM has a certificate for RSA alone`(_ kind: SoftwareTPM.Endorsement)
        async throws
    {
        let tpm = try SoftwareTPM()
        let server = try RealServer(of: ada, trusting: [try tpm.certify(kind)])
        let machine = try await Machine(tpm: tpm)
        _ = try await enable(client(of: server, on: machine))
        #expect(machine.prompts.count == 1)
        #expect(try await server.party.devices(of: ada).first?.attestation?.opensFor == ["current_fingers"])
    }

    @Test func `is told apart where any finger opens it, and where the passcode does`() async throws {
        let server = try RealServer(of: ada, trusting: [certificate])
        _ = try await enable(client(of: server) { $0.fingers = .any })
        #expect(try await server.party.devices(of: ada).first?.attestation?.opensFor == ["any_finger"])
        try await machine.setPasscode("1234")
        machine.prompts.answer(with: "1234")
        _ = try await enable(client(of: server))
        let device = try await server.party.devices(of: ada).first
        #expect(device?.attestation?.opensFor == ["current_fingers", "passcode"])
    }

    @Test func `is not enabled by a TPM without a certificate, and no one is asked for a finger`()
        async throws
    {
        let server = try RealServer(of: ada, trusting: [certificate])
        let bare = try await Machine()
        let code = await failure { () throws(LoginError) in try await enable(client(of: server, on: bare)) }
        guard case .service(let error)? = code else {
            Issue.record("\(String(describing: code))")
            return
        }
        #expect(error.code == .noEndorsement)
        #expect(bare.prompts.count == 0)
    }

    @Test func `is not enabled where the server does not trust the TPM's maker`() async throws {
        let server = try RealServer(of: ada, trusting: [])
        let code = await failure { () throws(LoginError) in try await enable(client(of: server)) }
        #expect(code == .refused(.attestationRefused))
        #expect(machine.prompts.count == 0)
    }

    @Test func `is not enabled by another key than the one that the TPM speaks of`() async throws {
        let server = try RealServer(of: ada, trusting: [certificate])
        let first = Mutex<String?>(nil)
        server.onEnabling { body in
            first.withLock { kept in
                var body = body
                if let attestation = kept { body["attestation"] = attestation }
                kept = kept ?? body["attestation"]
                return body
            }
        }
        _ = try await enable(client(of: server))
        let code = await failure { () throws(LoginError) in try await enable(client(of: server)) }
        #expect(code == .refused(.attestationRefused))
    }

    @Test(arguments: [SoftwareTPM.Endorsement.p256, .rsa2048])
    func `is not enabled by a credential that was made for another TPM`(_ kind: SoftwareTPM.Endorsement)
        async throws
    {
        let other = try SoftwareTPM()
        let certificates = [certificate, try other.certify(kind)]
        let machines = [machine, try await Machine(tpm: other)]
        let server = try RealServer(of: ada, trusting: certificates)
        let credential = Mutex<LoginResponse?>(nil)
        let relay = Relay(server: server) { request, answer in
            guard request.path == "/v1/attestations" else { return answer }
            return credential.withLock { kept in
                defer { kept = kept ?? answer }
                return kept ?? answer
            }
        }
        var options = LoginOptions()
        options.attests = true
        let clients = machines.map { machine in
            LoginClient(server: server.origin, transport: relay, options: options) { machine.parts }
        }
        _ = try await enable(clients[0])
        let code = await failure { () throws(LoginError) in try await enable(clients[1]) }
        guard case .service(let error)? = code else {
            Issue.record("\(String(describing: code))")
            return
        }
        #expect(error.code == .credentialRefused)
    }
}

/// Somebody between device and server.
private struct Relay: LoginTransport {
    let server: RealServer
    let change: @Sendable (LoginRequest, LoginResponse) -> LoginResponse

    func send(_ request: LoginRequest) async throws -> LoginResponse {
        change(request, try await server.send(request))
    }
}
