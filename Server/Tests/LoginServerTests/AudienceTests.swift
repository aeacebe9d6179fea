// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `what a token and a password are worth` {
    private let anna = basic("anna", "correct horse")
    private let shop = "https://shop.example"

    private func withServer(
        _ work: (TestServer, TestClient, TestDevice, Int) async throws -> Void
    ) async throws {
        let server = try await TestServer()
        let laptop = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(laptop.user, password: "correct horse")
        let now = server.clock.seconds
        try await server.run { client in
            #expect(try await laptop.enable(client, at: now, authorization: anna).status == 201)
            try await work(server, client, laptop, now)
        }
    }

    private func token(_ answer: TestClient.Answer) throws -> String {
        "Bearer \(try #require(answer.json["token"] as? String, "\(answer.text)"))"
    }

    private func claims(_ answer: TestClient.Answer) throws -> [String: Any] {
        let payload = try #require(try token(answer).split(separator: ".").dropFirst().first)
        let json = try #require(Base64URL.decode(String(payload)))
        return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    private func approve(_ server: TestServer, _ device: TestDevice) async throws {
        try await DevicesCommand(store: server.store()).approve(
            device.name,
            of: device.user,
            keyID: try device.keyID
        )
    }

    @Test func `a token is for the service that the device has named, and for the server without one`()
        async throws
    {
        try await withServer { _, client, laptop, now in
            for service in [nil, shop, TestServer.credentials] {
                let answer = try await laptop.signIn(client, at: now, service: service)
                #expect(try claims(answer)["aud"] as? String == service ?? TestServer.origin)
            }
            let page = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            #expect(try claims(page)["aud"] as? String == TestServer.credentials)
        }
    }

    // Docs/Security.md: L22
    @Test func `a token that a service was given opens nothing here`() async throws {
        try await withServer { _, client, laptop, now in
            let token = try token(try await laptop.signIn(client, at: now, service: shop))
            let thief = try TestDevice("anna", "laptop")
            #expect(try await thief.enable(client, at: now, authorization: token).code == "unauthorized")
            for (method, path) in [("GET", ""), ("DELETE", ""), ("DELETE", "/laptop")] {
                let answer = try await client.send(method, "/v1/devices" + path, authorization: token)
                #expect(answer.code == "unauthorized", "\(method) \(path)")
            }
            #expect(try await laptop.signIn(client, at: now).status == 201)
        }
    }

    // Docs/Security.md: L22
    @Test func `a token for the server itself looks at devices and changes none`() async throws {
        try await withServer { _, client, laptop, now in
            let token = try token(try await laptop.signIn(client, at: now))
            #expect(try await client.send("GET", "/v1/devices", authorization: token).status == 200)
            let thief = try TestDevice("anna", "other")
            #expect(try await thief.enable(client, at: now, authorization: token).code == "unauthorized")
            for path in ["", "/laptop"] {
                let answer = try await client.send("DELETE", "/v1/devices" + path, authorization: token)
                #expect(answer.code == "unauthorized")
                #expect(answer.headers["www-authenticate"]?.contains("insufficient_scope") == true)
            }
            #expect(try await laptop.signIn(client, at: now).status == 201)
        }
    }

    // Docs/Security.md: L23
    @Test(arguments: [60, 61]) func `a device is enabled by a token of the last minute, and no older one`(
        age: Int
    ) async throws {
        try await withServer { server, client, laptop, _ in
            server.clock.stop(at: 1_900_000_000)
            let session = try await laptop.signIn(
                client,
                at: server.clock.seconds,
                service: TestServer.credentials
            )
            let page = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            server.clock.stop(at: 1_900_000_000 + Double(age))
            for answer in [session, page] {
                let other = try TestDevice("anna", "other")
                let enabled = try await other.enable(
                    client,
                    at: server.clock.seconds,
                    authorization: try token(answer)
                )
                #expect(enabled.status == (age == 60 ? 201 : 401), "\(enabled.text)")
            }
        }
    }

    // Docs/Security.md: L18
    @Test func `a phished password gives a key that is neither one in hardware nor a second factor`()
        async throws
    {
        try await withServer { server, client, laptop, now in
            try await approve(server, laptop)
            // In software, with whatever it says about fingers; also in the place of the owner's own device.
            for name in ["thief", "laptop"] {
                let thief = try TestDevice("anna", name)
                #expect(try await thief.enable(client, at: now, authorization: anna).status == 201)
                for password in [nil, "correct horse"] {
                    let answer = try await thief.signIn(client, at: now, password: password)
                    let amr = try #require(try claims(answer)["amr"] as? [String])
                    #expect(amr == ["pop", "fpt"] + (password == nil ? [] : ["pwd"]))
                }
                // Nor does it vouch for another.
                let session = try await thief.signIn(client, at: now, service: TestServer.credentials)
                let next = try TestDevice("anna", "next")
                try await next.enable(client, at: now, authorization: try token(session))
                let answer = try await next.signIn(client, at: now, password: "correct horse")
                #expect(try claims(answer)["amr"] as? [String] == ["pop", "fpt", "pwd"])
            }
        }
    }

    @Test func `a device that was approved vouches for the next one, and the list tells who was`()
        async throws
    {
        try await withServer { server, client, laptop, now in
            try await approve(server, laptop)
            let session = try await laptop.signIn(client, at: now, service: TestServer.credentials)
            let (phone, other) = (try TestDevice("anna", "phone"), try TestDevice("anna", "other"))
            try await phone.enable(client, at: now, authorization: try token(session))
            try await other.enable(client, at: now, authorization: anna)
            let answer = try await phone.signIn(client, at: now, password: "correct horse")
            #expect(try claims(answer)["amr"] as? [String] == ["pop", "fpt", "pwd", "mfa"])
            let list = try await client.send("GET", "/v1/devices", authorization: try token(session))
            let devices = try #require(list.json["devices"] as? [[String: Any]])
            let approved = devices.filter { $0["approved"] as? Bool == true }
            #expect(Set(approved.compactMap { $0["device"] as? String }) == ["laptop", "phone"])
            #expect(devices.count == 3)
        }
    }
}
