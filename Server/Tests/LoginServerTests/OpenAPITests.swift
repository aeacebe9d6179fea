// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing
import Yams

@testable import LoginServer

struct `the OpenAPI file` {
    private func file(_ asset: Asset = .openAPI) throws -> [String: Any] {
        let text = String(decoding: asset.bytes, as: UTF8.self)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    @Test func `has every endpoint of the server, and no other; that of operators has theirs`() async throws {
        let service = try await TestServer().service
        for (asset, endpoints) in [
            (Asset.openAPI, service.endpoints), (Asset.adminOpenAPI, service.adminEndpoints),
        ] {
            let paths = try #require(try file(asset)["paths"] as? [String: [String: Any]])
            let described = Set(
                paths.flatMap { path, parts in
                    parts.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
                }
            )
            #expect(described == Set(endpoints.map { "\($0.method.rawValue) \($0.path)" }))
        }
    }

    /// What the file refers to and does not have breaks each generated client.
    @Test(arguments: [Asset.openAPI.bytes, Asset.adminOpenAPI.bytes])
    func `refers to nothing that it does not have`(bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let file = try #require(try Yams.load(yaml: text) as? [String: Any])
        let components = try #require(file["components"] as? [String: [String: Any]])
        let references = text.matches(of: #/#\/components\/([A-Za-z]+)\/([A-Za-z]+)/#)
        #expect(!references.isEmpty)
        for reference in references {
            #expect(components[String(reference.1)]?[String(reference.2)] != nil, "\(reference.0)")
        }
    }

    @Test func `has every problem code of the server, and no other`() throws {
        let components = try #require(try file()["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let properties = try #require(schemas["Problem"]?["properties"] as? [String: [String: Any]])
        let codes = try #require(properties["code"]?["enum"] as? [String])
        #expect(Set(codes) == Set(Problem.Code.allCases.map(\.rawValue)))
    }
}
