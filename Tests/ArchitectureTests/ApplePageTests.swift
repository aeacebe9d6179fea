// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Docs/Apple.md has every symbol, and says of none that it is there when it is not.
struct ApplePageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A row of the tables.
    private struct Row {
        /// The names, as written; one that ends in … is a family.
        let names: [String]
        let standing: Substring
    }

    private let rows: [Row]
    /// What is public outside of every type.
    private let outside: Set<String>
    /// Every name that is declared, whatever it is a part of.
    private let declared: Set<String>

    init() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/Apple.md"), encoding: .utf8)
        rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            return Row(
                names: cells[1].matches(of: /`([^`]+)`/).map { String($0.1) },
                standing: cells[2].trimmingPrefix(" ").prefix { $0 != " " }
            )
        }
        var outside: Set<String> = []
        var declared: Set<String> = []
        for module in [
            "WhorlContext", "KeychainServices", "LocalAuthentication", "SecureEnclaveKeys",
        ] {
            let folder = Self.root.appending(path: "Sources/Faces/\(module)")
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where file.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                outside.formUnion(text.matches(of: Self.publicName).map { String($0.1) })
                declared.formUnion(text.matches(of: Self.anyName).map { String($0.1) })
            }
        }
        self.outside = outside
        self.declared = declared
    }

    private static var publicName: Regex<(Substring, Substring)> {
        #/
        ^ (?: nonisolated\(unsafe\)\  )? (?: public | open )\  (?: final\  )?
        (?: func | let | var | class | struct | enum | protocol | typealias )\  (\w+)
        /#.anchorsMatchLineEndings()
    }

    private static var anyName: Regex<(Substring, Substring)> {
        /\b(?:func|let|var|class|struct|enum|protocol|typealias|case) `?(\w+)/
    }

    /// `a.b.c(d:)` is about `c`.
    private static func last(_ name: String) -> String {
        String(name.prefix { $0 != "(" }.split(separator: ".").last ?? "")
    }

    /// What the names of a family begin with.
    private static func prefix(_ name: String) -> String? {
        name.hasSuffix("…") ? String(name.dropLast()) : nil
    }

    @Test func `every public symbol has a row`() {
        #expect(outside.count > 600)
        let names = rows.flatMap(\.names)
        let whole = Set(names)
        let families = names.compactMap(Self.prefix)
        let missing = outside.filter { name in
            !whole.contains(name) && !families.contains { name.hasPrefix($0) }
        }
        #expect(missing.sorted() == [])
    }

    @Test func `what is said to be there is declared`() {
        #expect(rows.count > 70)
        let missing = rows.filter { $0.standing != "absent" }.flatMap(\.names).filter { name in
            let last = Self.last(name)
            guard let prefix = Self.prefix(last) else {
                return !declared.contains(last) && !Self.inherited.contains(name)
            }
            return !declared.contains { $0.hasPrefix(prefix) }
        }
        #expect(missing == [])
    }

    /// What types have without declaring it in a line of its own.
    private static let inherited = ["Hashable", "Observable"]

    @Test func `what is said to be absent is not declared`() {
        let there = rows.filter { $0.standing == "absent" }.flatMap(\.names).filter { name in
            // One form of a function that has others.
            guard !name.contains("(") else { return false }
            guard let prefix = Self.prefix(name) else { return declared.contains(Self.last(name)) }
            return outside.contains { $0.hasPrefix(prefix) }
        }
        #expect(there == [])
    }

    /// A name of ours beside them may be one that a program's own types have.
    @Test func `the modules with Apple's names bring these and Foundation alone`() throws {
        let apple = /(?:k?LA|k?Sec|errSec|k?CF|NSErrorPointer$|OSStatus$|OSType$|FourCharCode$|noErr$)\w*/
        #expect(outside.filter { $0.prefixMatch(of: apple) == nil }.sorted() == [])
        for module in ["WhorlContext", "KeychainServices", "LocalAuthentication"] {
            let folder = Self.root.appending(path: "Sources/Faces/\(module)")
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where file.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                let exported = text.matches(of: /(?m)^@_exported public import (.+)$/).map { String($0.1) }
                let known: Set = ["WhorlContext", "KeychainServices", "Foundation"]
                #expect(Set(exported).isSubset(of: known), "\(file)")
            }
        }
    }

    @Test func `a row is the same, differs, is absent or was added`() {
        for row in rows {
            #expect(["same", "differs", "absent", "added"].contains(row.standing), "\(row.names)")
            #expect(!row.names.isEmpty)
        }
    }
}
