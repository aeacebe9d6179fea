// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The statuses of the library for C, by the names of the errors that the service sends.
struct StatusTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `each code of the table of errors has a status`() throws {
        let table = try Self.text("Sources/Contract/WhorlService/Errors/ErrorTable.swift")
        let codes = Set(table.matches(of: /= row\(\s*"(\w+)"/).map { String($0.1) })
        #expect(codes.count >= 86, "\(codes.sorted())")
        let statuses = try Self.text("Library/Sources/C/statuses.c")
        let known = Set(statuses.matches(of: /"(\w+)"/).map { String($0.1) })
        #expect(codes.subtracting(known).sorted() == [])
    }

    @Test func `each OSStatus that the package returns has a message`() throws {
        let sources = Self.root.appending(path: "Sources")
        let files = try #require(FileManager.default.subpaths(atPath: sources.path)).filter {
            $0.hasSuffix(".swift") && (!$0.contains("/Statuses/") || $0.hasSuffix("/KeychainError.swift"))
        }
        var returned: Set<String> = []
        for file in files {
            returned.formUnion(
                try Self.text("Sources/\(file)").matches(of: /\berrSec\w+/).map { String($0.output) }
            )
        }
        // Those of the service's errors are in the table of errors, without their prefix.
        let ofErrors = try Self.text("Sources/Contract/WhorlService/Errors/ErrorRow.swift").matches(
            of: /case (\w+) = -/
        )
        #expect(ofErrors.count >= 10)
        returned.formUnion(
            ofErrors.map { "errSec" + ($0.1 == "io" ? "IO" : $0.1.prefix(1).uppercased() + $0.1.dropFirst()) }
        )
        #expect(returned.count > 15)
        let table = try Self.text("Sources/Faces/KeychainServices/Statuses/SecErrorMessages.swift")
        #expect(returned.filter { !table.contains("    \($0): \"") }.sorted() == [])
    }

    @Test func `each refusal of a connection has a status`() throws {
        let statuses = try Self.text("Library/Sources/C/statuses.c")
        var names: Set<String> = []
        let folder = Self.root.appending(path: "Sources/Service")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            for name in source.matches(of: /"io\.whorl\.Connection\.(\w+)"/) { names.insert(String(name.1)) }
        }
        // The methods of the interface are no refusals.
        names.subtract(["Challenge", "Prove", "Adopt"])
        #expect(names.count >= 6)
        #expect(names.filter { !statuses.contains("\"\($0)\"") }.sorted() == [])
    }
}
