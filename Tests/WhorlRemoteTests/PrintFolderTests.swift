// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint

@testable import WhorlRemote

/// fprintd's folders, made and damaged.
@Suite final class `A folder of prints` {
    private let base = FileManager.default.temporaryDirectory.appending(path: "prints-\(UUID().uuidString)")
        .path
    private var root: String { "\(base)/root" }
    private let key = ReaderKey(driver: "virtual_image", number: "0")
    private let template = Template(bytes: [1, 2, 3])

    deinit { try? FileManager.default.removeItem(atPath: base) }

    /// Writes a print, as fprintd does.
    private func save(_ finger: String, of user: String = "ada") throws {
        try FileManager.default.createDirectory(
            atPath: path("", of: user),
            withIntermediateDirectories: true
        )
        try Data(template.bytes).write(to: URL(filePath: path(finger, of: user)))
    }

    private func path(_ name: String, of user: String = "ada") -> String {
        "\(root)/\(user)/virtual_image/0/\(name)"
    }

    @Test func `is read as fprintd writes it`() throws {
        let folder = PrintFolder(root: root)
        for user in ["bob", "ada"] { try save("7", of: user) }
        #expect(folder.users() == ["ada", "bob"])
        #expect(folder.readers(of: "ada") == [key])
        #expect(folder.fingers(of: "ada", on: key) == [.rightIndex])
        #expect(folder.template(.rightIndex, of: "ada", on: key) == template)
    }

    @Test(arguments: ["", ".", "..", "../bob", "a/b", "/", "a\0b", String(repeating: "a", count: 256)])
    func `refuses a name that is not one plain component`(_ name: String) throws {
        let folder = PrintFolder(root: root)
        // There is a print where an unchecked name would lead, if the file system takes that name.
        try? save("7", of: name)
        #expect(folder.fingers(of: name, on: key) == [])
        #expect(folder.template(.rightIndex, of: name, on: key) == nil)
        let reader = ReaderKey(driver: name, number: "0")
        #expect(folder.fingers(of: "ada", on: reader) == [])
        #expect(folder.template(.rightIndex, of: "ada", on: reader) == nil)
    }

    @Test func `reads neither links, nor folders, nor pipes, nor files without an end`() throws {
        let folder = PrintFolder(root: root)
        try save("1")
        try FileManager.default.createSymbolicLink(atPath: path("2"), withDestinationPath: path("1"))
        try FileManager.default.createDirectory(atPath: path("3"), withIntermediateDirectories: false)
        #expect(mkfifo(path("4"), 0o600) == 0)
        #expect(FileManager.default.createFile(atPath: path("5"), contents: Data()))
        #expect(FileManager.default.createFile(atPath: path("6"), contents: nil))
        #expect(truncate(path("6"), 1 << 40) == 0)
        for finger in [Finger.leftIndex, .leftMiddle, .leftRing, .leftLittle, .rightThumb] {
            #expect(folder.template(finger, of: "ada", on: key) == nil)
        }
    }

    @Test func `lists what cannot be read as present, and other names not at all`() throws {
        let folder = PrintFolder(root: root)
        try save("1")
        try FileManager.default.createDirectory(atPath: path("7"), withIntermediateDirectories: false)
        for name in ["7_renamed", "0", "b", ".2.new", "07"] {
            #expect(FileManager.default.createFile(atPath: path(name), contents: Data([1])))
        }
        #expect(folder.fingers(of: "ada", on: key) == [.leftThumb, .rightIndex])
    }
}
