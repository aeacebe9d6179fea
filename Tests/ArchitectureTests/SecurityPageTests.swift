// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Docs/Security.md names a test for each attack, other pages for what they promise, and each of them is there.
struct SecurityPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private let page: String

    init() throws {
        page = try String(contentsOf: Self.root.appending(path: "Docs/Security.md"), encoding: .utf8)
    }

    private var rows: [Substring] { page.split(separator: "\n").filter { $0.hasPrefix("| ") } }

    /// The server is a package of its own.
    private static func place(of name: some StringProtocol) -> URL {
        root.appending(path: (name.hasPrefix("LoginServerTests") ? "Server/Tests/" : "Tests/") + name)
    }

    @Test func `every file of tests that it names is there`() {
        let names = rows.flatMap { $0.matches(of: /`([A-Za-z]+Tests(?:\/[A-Za-z]+)?)`/).map { String($0.1) } }
        #expect(names.count > 30)
        for name in names {
            let path = Self.place(of: name).path + (name.contains("/") ? ".swift" : "")
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
    }

    @Test(arguments: ["Security", "TPM", "KnownIssues", "Testing"])
    func `every test that a page quotes is in the file that it names`(name: String) throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/\(name).md"), encoding: .utf8)
        // In text a name may go on in the next line.
        let quotes = page.replacing(/\s+/, with: " ")
            .matches(of: /`([A-Za-z]+Tests\/[A-Za-z]+)`: “([^”]+)”/).map(\.output)
        #expect(quotes.count >= 2)
        for (whole, file, test) in quotes {
            let path = Self.place(of: "\(file).swift")
            let tests = try String(contentsOf: path, encoding: .utf8)
            #expect(tests.contains("func `\(test)`("), "\(whole)")
        }
    }

    @Test(arguments: (1...12).map { "A\($0)" })
    func `every attack of the threat model has a test by name`(attack: String) throws {
        let row = try #require(rows.first { $0.hasPrefix("| \(attack) |") }, "there is no row")
        #expect(row.contains(/`[A-Za-z]+Tests\/[A-Za-z]+`: “[^”]+”/))
    }
}
