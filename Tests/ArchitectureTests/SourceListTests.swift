// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The first page of a target, `Sources/FLOOR/NAME/NAME.docc/NAME.md`, lists the files of its folder by idea.
///
/// A line of the list is "- **The idea** (`Folder/`): `File` does this, `Other` does that."; the folder is left out for files that
/// lie in the target's own folder. The list stands before the Topics, which docc takes to the end of the page.
struct SourceListTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let heading = "## Source files"

    /// The folders `Sources/FLOOR/NAME`, without those of C; a test of the floors finds files elsewhere.
    private static let targets: [String] = {
        let sources = root.appending(path: "Sources")
        let files = FileManager.default.subpaths(atPath: sources.path) ?? []
        let folders = files.filter { $0.hasSuffix(".swift") }
            .map { $0.split(separator: "/").prefix(2).joined(separator: "/") }
        return Set(folders).map { "Sources/" + $0 }.sorted()
    }()

    private static func name(of target: String) -> String { String(target.split(separator: "/").last ?? "") }

    private static func page(of target: String) -> String {
        "\(target)/\(name(of: target)).docc/\(name(of: target)).md"
    }

    /// A page that is missing is empty: one test says so, and the others which lines it needs.
    private static func text(of target: String) -> String {
        (try? String(contentsOf: root.appending(path: page(of: target)), encoding: .utf8)) ?? ""
    }

    /// The Swift files below a target's folder, such as `Folder/File`.
    private static func files(of target: String) -> Set<String> {
        let files = FileManager.default.subpaths(atPath: root.appending(path: target).path) ?? []
        return Set(files.filter { $0.hasSuffix(".swift") }.map { String($0.dropLast(".swift".count)) })
    }

    /// The items of a page's list, each in one line.
    private static func items(in text: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("## ") }
        var items: [String] = []
        for line in lines where !line.isEmpty {
            if line.hasPrefix("  "), !items.isEmpty {
                items[items.count - 1] += " " + line.trimmingPrefix("  ")
            } else {
                items.append(String(line))
            }
        }
        return items
    }

    /// The files that an item names, such as `Folder/File`; `nil` for a line that is no item.
    private static func named(in item: String) -> [String]? {
        let head = #/- \*\*[^*]+\*\*(?:\ \(`([A-Za-z/]+/)`\))?:\ /#
        guard let head = item.prefixMatch(of: head) else { return nil }
        let names = item[head.range.upperBound...].matches(of: /`([^`]+)`/).map { String($0.1) }
        return names.isEmpty ? nil : names.map { (head.output.1 ?? "") + $0 }
    }

    /// The line that a file's place in its target asks for.
    private static func line(for file: String) -> String {
        let parts = file.split(separator: "/")
        let folder = parts.count > 1 ? " (`\(parts.dropLast().joined(separator: "/"))/`)" : ""
        return "- **The idea**\(folder): `\(parts.last ?? "")` …"
    }

    @Test func `there are targets to look at`() {
        #expect(Self.targets.count > 30)
        #expect(Self.targets.contains("Sources/Wall/WhorlService"))
    }

    @Test(arguments: targets) func `each target has a first page with its name`(target: String) throws {
        let name = Self.name(of: target)
        let text = Self.text(of: target)
        try #require(
            !text.isEmpty,
            "write \(Self.page(of: target)): the title “# ``\(name)``”, a sentence, and the section “\(Self.heading)”"
        )
        // A slash tells docc the module from its type of the same name.
        let titles = ["# ``\(name)``", "# ``/\(name)``"]
        #expect(
            titles.contains(String(text.prefix { $0 != "\n" })),
            "the first line of \(Self.page(of: target)) must be “\(titles[0])”"
        )
    }

    @Test(arguments: targets) func `every file of a target is on its first page`(target: String) {
        let named = Self.items(in: Self.text(of: target)).compactMap(Self.named).flatMap(\.self)
        for file in Self.files(of: target).subtracting(named).sorted() {
            Issue.record(
                """
                \(target)/\(file).swift is not in the list of its target: write in \(Self.page(of: target)), section \
                “\(Self.heading)”, a line “\(Self.line(for: file))”, or name it in the line of its idea
                """
            )
        }
    }

    @Test(arguments: targets) func `every file that a target's first page lists is there`(target: String)
        throws
    {
        let files = Self.files(of: target)
        for item in Self.items(in: Self.text(of: target)) {
            let named = try #require(
                Self.named(in: item),
                "\(Self.page(of: target)): this line is not “\(Self.line(for: "Folder/File"))”: \(item)"
            )
            for file in named where !files.contains(file) {
                Issue.record(
                    "\(Self.page(of: target)) lists \(target)/\(file).swift, which does not exist: mend the line “\(item)”"
                )
            }
        }
    }
}
