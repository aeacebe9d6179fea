// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Docs/CommandLine.md has every variable that the sources read.
struct VariablePageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private let read: Set<String>
    private let documented: Set<String>

    init() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/CommandLine.md"), encoding: .utf8)
        documented = Set(page.matches(of: /`(WHORL_[A-Z_]+)`/).map { String($0.1) })
        var read: Set<String> = []
        let sources = FileManager.default.enumerator(atPath: Self.root.appending(path: "Sources").path)
        while let file = sources?.nextObject() as? String {
            guard file.hasSuffix(".swift") else { continue }
            let text = try String(contentsOf: Self.root.appending(path: "Sources/" + file), encoding: .utf8)
            read.formUnion(text.matches(of: /"(WHORL_[A-Z_]+)"/).map { String($0.1) })
        }
        self.read = read
    }

    @Test func `every variable is documented, and there is no other`() {
        #expect(read.contains("WHORL_STATE_DIR"))
        #expect(documented.sorted() == read.sorted())
    }
}
