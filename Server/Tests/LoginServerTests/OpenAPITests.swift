// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing
import Yams

@testable import LoginServer

struct `the OpenAPI file` {
    private func file() throws -> [String: Any] {
        let text = String(decoding: Asset.openAPI.bytes, as: UTF8.self)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    @Test func `has every endpoint of the server, and no other`() async throws {
        let server = try await TestServer()
        let paths = try #require(try file()["paths"] as? [String: [String: Any]])
        let described = Set(
            paths.flatMap { path, methods in methods.keys.map { "\($0.uppercased()) \(path)" } }
        )
        let served = Set(server.service.endpoints.map { "\($0.method.rawValue) \($0.path)" })
        #expect(described == served)
    }

    @Test func `has every problem code of the server, and no other`() throws {
        let components = try #require(try file()["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let properties = try #require(schemas["Problem"]?["properties"] as? [String: [String: Any]])
        let codes = try #require(properties["code"]?["enum"] as? [String])
        #expect(Set(codes) == Set(Problem.Code.allCases.map(\.rawValue)))
    }
}
