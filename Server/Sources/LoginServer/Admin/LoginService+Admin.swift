// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

/// The interface for operators' programs, available only at the operations address: the commands, over HTTP.
extension LoginService {
    private struct UsersAnswer: Encodable {
        let users: [String]
    }

    private struct AdminDevice: Encodable {
        let device: String
        let keyID: String
        let name: String
        let enabledAt: Int
        let lastUsedAt: Int?
        let approvedBy: String?
        let attested: String?
    }

    private struct AdminDevicesAnswer: Encodable {
        let devices: [AdminDevice]
    }

    private struct AuditLine: Encodable {
        let at: Int
        let event: String
        let user: String?
        let device: String?
        let address: String?
        let reason: String?
    }

    private struct AuditAnswer: Encodable {
        let entries: [AuditLine]
    }

    /// The endpoints, all of which require the token.
    var adminEndpoints: [Endpoint] {
        let user = "/v1/admin/users/{user}"
        return [
            admin(.get, "/v1/admin/users", adminUsers), admin(.post, "/v1/admin/users", adminAddUser),
            admin(.delete, user, adminRemoveUser), admin(.put, user + "/password", adminSetPassword),
            admin(.delete, user + "/sessions", adminEndSessions),
            admin(.get, user + "/devices", adminDevices),
            admin(.delete, user + "/devices", adminRevokeAll),
            admin(.delete, user + "/devices/{device}", adminRevoke),
            admin(.put, user + "/devices/{device}/approval", adminApprove),
            admin(.get, "/v1/admin/audit", adminAudit),
            admin(.get, "/v1/admin/openapi.yaml", Asset.adminOpenAPI.handler),
        ]
    }

    private func admin(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping Endpoint.Handler
    ) -> Endpoint {
        Endpoint(method, path) { request, context in
            guard case .bearer(let token) = Authorization(request), adminToken?.matches(token) == true else {
                throw Problem.unauthorized("The operator token is required.")
            }
            return try await handler(request, context)
        }
    }

    private func accounts(_ request: Request, _ context: ServerContext) -> AccountsCommand {
        AccountsCommand(
            store: relyingParty.store,
            cost: passwordCost,
            address: client(request, context).text
        )
    }

    private func devices(_ request: Request, _ context: ServerContext) -> DevicesCommand {
        DevicesCommand(store: relyingParty.store, address: client(request, context).text)
    }

    /// Returns the name at an index of the path `/v1/admin/users/NAME/devices/NAME`.
    private func name(_ index: Int, of request: Request) throws -> LoginName {
        let parts = request.uri.path.split(separator: "/")
        guard index < parts.count, let text = String(parts[index]).removingPercentEncoding,
            let name = LoginName(text)
        else { throw Problem(.malformed, "The path lacks a name at position \(index + 1).") }
        return name
    }

    /// Returns the user in the path.
    private func existingUser(_ request: Request) async throws -> LoginName {
        let user = try name(3, of: request)
        guard try await accounts.credential(of: user) != nil else { throw Self.unknownUser }
        return user
    }

    private static let unknownUser = Problem(.notFound, "User not found.")
    private static let unknownDevice = Problem(.notFound, "The user has no device with this key.")

    /// Runs a command, and reports invalid input as a problem of the request.
    private func reporting<Value>(_ command: () async throws -> Value) async throws -> Value {
        do {
            return try await command()
        } catch let error as ServerError where error.code == .account {
            throw Problem(.malformed, error.message)
        }
    }

    private func adminUsers(_: Request, _: ServerContext) async throws -> Response {
        try JSON.response(UsersAnswer(users: try await accounts.all().map(\.text)))
    }

    private func adminAddUser(_ request: Request, _ context: ServerContext) async throws -> Response {
        var members = try await request.members()
        let user = try members.name("user")
        let password = try members.required("password")
        try members.end()
        guard try await accounts.credential(of: user) == nil else {
            throw Problem(.conflict, "The user already exists.")
        }
        try await reporting { try await accounts(request, context).add(user, password: password) }
        return Response(status: .noContent)
    }

    private func adminRemoveUser(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try name(3, of: request)
        do {
            try await accounts(request, context).remove(user)
        } catch let error as ServerError where error.code == .account {
            throw Self.unknownUser
        }
        return Response(status: .noContent)
    }

    private func adminSetPassword(_ request: Request, _ context: ServerContext) async throws -> Response {
        var members = try await request.members()
        let password = try members.required("password")
        try members.end()
        let user = try await existingUser(request)
        try await reporting { try await accounts(request, context).setPassword(password, of: user) }
        return Response(status: .noContent)
    }

    private func adminEndSessions(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await existingUser(request)
        try await reporting { try await accounts(request, context).endSessions(of: user) }
        return Response(status: .noContent)
    }

    private func adminDevices(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await existingUser(request)
        let devices = try await devices(request, context).list(of: user).map {
            AdminDevice(
                device: $0.device.text,
                keyID: $0.keyID,
                name: $0.name,
                enabledAt: $0.enabledAt,
                lastUsedAt: $0.lastUsedAt,
                approvedBy: $0.approval?.words,
                attested: $0.attestation?.level.rawValue
            )
        }
        return try JSON.response(AdminDevicesAnswer(devices: devices))
    }

    private func adminRevokeAll(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await existingUser(request)
        _ = try await devices(request, context).revokeAll(of: user)
        return Response(status: .noContent)
    }

    private func adminRevoke(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await existingUser(request)
        let device = try name(5, of: request)
        do {
            try await devices(request, context).revoke(device, of: user)
        } catch let error as ServerError where error.code == .account {
            throw Self.unknownDevice
        }
        return Response(status: .noContent)
    }

    private func adminApprove(_ request: Request, _ context: ServerContext) async throws -> Response {
        var members = try await request.members()
        let keyID = try members.required("keyID")
        try members.end()
        let user = try await existingUser(request)
        let device = try name(5, of: request)
        do {
            try await devices(request, context).approve(device, of: user, keyID: keyID)
        } catch let error as ServerError where error.code == .account {
            throw Self.unknownDevice
        }
        return Response(status: .noContent)
    }

    private func adminAudit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let query = request.uri.queryParameters
        let user = try query["user"].map { text in
            guard let user = LoginName(String(text)) else {
                throw Problem(.malformed, "Invalid parameter: user.")
            }
            return user
        }
        guard let count = Int(query["count"].map(String.init) ?? "100"), (1...10_000).contains(count) else {
            throw Problem(.malformed, "The parameter count must be 1 to 10000.")
        }
        let entries = try await devices(request, context).audit(of: user, atMost: count).map {
            AuditLine(
                at: $0.at,
                event: $0.event.rawValue,
                user: $0.user?.text,
                device: $0.device?.text,
                address: $0.address.isEmpty ? nil : $0.address,
                reason: $0.reason
            )
        }
        return try JSON.response(AuditAnswer(entries: entries))
    }
}

extension RegisteredDevice.Approval {
    /// A description of the operator or device that approved a key.
    fileprivate var words: String {
        switch self {
        case .byOperator: "operator"
        case .byDevice(let device): "device \(device.text)"
        }
    }
}
