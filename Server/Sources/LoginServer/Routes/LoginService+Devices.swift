// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

extension LoginService {
    private struct EnabledAnswer: Encodable {
        let user: String
        let device: String
        let keyID: String
        let name: String
        let enabledAt: Int
    }

    private struct DevicesAnswer: Encodable {
        struct Device: Encodable {
            let device: String
            let name: String
            let keyID: String
            let enabledAt: Int
            let lastUsedAt: Int?
            let current: Bool
            let approved: Bool
            let attested: String?
        }

        let devices: [Device]
    }

    /// The members of a request to enable a device.
    private struct Wish {
        let assertion: String
        let publicKey: Data
        let name: String
        let attestation: AttestationStatement?

        init(_ members: consuming RequestMembers) throws {
            assertion = try members.required("assertion")
            publicKey = try members.bytes("publicKey")
            name = try members.name("name").text
            attestation = try members.attestation()
            try members.end()
        }
    }

    /// Handles `POST /v1/devices`.
    func enableDevice(_ request: Request, _ context: ServerContext) async throws -> Response {
        // The body is read first, so that the sender is checked when all of it has arrived, however long that took.
        let wish = try Wish(await request.members())
        let sender = try await sender(of: request, context, to: .enable)
        let device = try await enable(wish, as: sender, from: client(request, context).text)
        return try JSON.response(
            EnabledAnswer(
                user: device.user.text,
                device: device.device.text,
                keyID: device.keyID,
                name: device.name,
                enabledAt: device.enabledAt
            ),
            status: .created
        )
    }

    // Not inlined, because the compiler otherwise crashes on the optimized caller (Swift 6.3.1).
    @inline(never)
    private func enable(_ wish: Wish, as sender: Sender, from address: String) async throws
        -> RegisteredDevice
    {
        try await relyingParty.enable(
            assertion: wish.assertion,
            publicKey: wish.publicKey,
            name: wish.name,
            as: sender.user,
            from: address,
            approval: try await approval(by: sender),
            attestation: wish.attestation,
            provided: try await condition(of: sender)
        )
    }

    /// Returns the approval that a sender can give to a key: an approved device can approve, a password cannot.
    private func approval(by sender: Sender) async throws -> RegisteredDevice.Approval? {
        guard let name = sender.device else { return nil }
        let device = try await relyingParty.devices(of: sender.user).first { $0.device == name }
        guard let device, device.keyID == sender.credential, device.approval != nil else { return nil }
        return .byDevice(name)
    }

    /// Returns the condition that must still hold when the device is registered, because checking a password takes a
    /// second.
    private func condition(of sender: Sender) async throws -> RegistrationCondition {
        if let device = sender.device { return .device(device, keyID: sender.credential) }
        guard let evidence = try await accounts.evidence(of: sender.user, credential: sender.credential)
        else {
            throw Self.invalidToken
        }
        return .document(evidence.name, evidence.document)
    }

    /// Handles `GET /v1/devices`.
    func listDevices(_ request: Request, _ context: ServerContext) async throws -> Response {
        let sender = try await sender(of: request, context, to: .look)
        let devices = try await relyingParty.devices(of: sender.user)
        return try JSON.response(
            DevicesAnswer(
                devices: devices.map { device in
                    DevicesAnswer.Device(
                        device: device.device.text,
                        name: device.name,
                        keyID: device.keyID,
                        enabledAt: device.enabledAt,
                        lastUsedAt: device.lastUsedAt,
                        current: device.device == sender.device,
                        approved: device.approval != nil,
                        attested: device.attestation?.level.rawValue
                    )
                }
            )
        )
    }

    /// Handles `DELETE /v1/devices/{device}`.
    func revokeDevice(_ request: Request, _ context: ServerContext) async throws -> Response {
        let sender = try await sender(of: request, context, to: .revoke)
        let unknown = Problem(.notFound, "Device not found.")
        // The last part is taken from the raw path, because names may contain escaped slashes.
        guard let part = request.uri.path.split(separator: "/").last,
            let text = String(part).removingPercentEncoding,
            let device = LoginName(text),
            try await relyingParty.revoke(device, of: sender.user, from: client(request, context).text)
        else { throw unknown }
        return Response(status: .noContent)
    }

    /// Handles `DELETE /v1/devices`.
    func revokeAllDevices(_ request: Request, _ context: ServerContext) async throws -> Response {
        let sender = try await sender(of: request, context, to: .revoke)
        _ = try await relyingParty.revokeAll(of: sender.user, from: client(request, context).text)
        return Response(status: .noContent)
    }
}
