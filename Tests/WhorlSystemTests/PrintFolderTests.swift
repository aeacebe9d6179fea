// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint

@testable import WhorlSystem

/// fprintd's folders, made and damaged.
@Suite final class `A folder of prints` {
    private let root = FileManager.default.temporaryDirectory.appending(path: "prints-\(UUID().uuidString)")
        .path
    private let key = ReaderKey(driver: "virtual_image", number: "0")
    private let template = Template(bytes: [1, 2, 3])

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func path(_ name: String, of user: String = "ada") -> String {
        "\(root)/\(user)/virtual_image/0/\(name)"
    }

    @Test func `has fprintd's layout, closed to other users`() throws {
        let folder = PrintFolder(root: root)
        try folder.save(template, .rightIndex, of: "ada", on: key)
        #expect(FileManager.default.contents(atPath: path("7")) == Data([1, 2, 3]))
        for part in [root, "\(root)/ada", "\(root)/ada/virtual_image", "\(root)/ada/virtual_image/0"] {
            let mode = try FileManager.default.attributesOfItem(atPath: part)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        #expect(folder.fingers(of: "ada", on: key) == [.rightIndex])
        #expect(folder.template(.rightIndex, of: "ada", on: key) == template)
        #expect(folder.users() == ["ada"])
    }

    @Test func `loses the user's folder with the last print, and no other`() throws {
        let folder = PrintFolder(root: root)
        for user in ["ada", "bob"] { try folder.save(template, .rightIndex, of: user, on: key) }
        try folder.save(template, .leftThumb, of: "ada", on: key)
        try folder.remove(.rightIndex, of: "ada", on: key)
        #expect(folder.users() == ["ada", "bob"])
        try folder.remove(.leftThumb, of: "ada", on: key)
        #expect(folder.users() == ["bob"])
    }

    @Test(arguments: ["", ".", "..", "../bob", "a/b", "/", "a\0b", String(repeating: "a", count: 256)])
    func `refuses a name that is not one plain component`(_ name: String) throws {
        let folder = PrintFolder(root: root)
        #expect(throws: PrintStoreFault.self) { try folder.save(template, .rightIndex, of: name, on: key) }
        #expect(throws: PrintStoreFault.self) { try folder.remove(.rightIndex, of: name, on: key) }
        #expect(folder.fingers(of: name, on: key) == [])
        #expect(folder.template(.rightIndex, of: name, on: key) == nil)
        let reader = ReaderKey(driver: name, number: "0")
        #expect(throws: PrintStoreFault.self) {
            try folder.save(template, .rightIndex, of: "ada", on: reader)
        }
        #expect(!FileManager.default.fileExists(atPath: root))
    }

    @Test func `reads neither links, nor folders, nor pipes, nor files without an end`() throws {
        let folder = PrintFolder(root: root)
        try folder.save(template, .leftThumb, of: "ada", on: key)
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
        try folder.save(template, .leftThumb, of: "ada", on: key)
        try FileManager.default.createDirectory(atPath: path("7"), withIntermediateDirectories: false)
        for name in ["7_renamed", "0", "b", ".2.new", "07"] {
            #expect(FileManager.default.createFile(atPath: path(name), contents: Data([1])))
        }
        #expect(folder.fingers(of: "ada", on: key) == [.leftThumb, .rightIndex])
        #expect(throws: PrintStoreFault.self) { try folder.remove(.rightIndex, of: "ada", on: key) }
        #expect(throws: PrintStoreFault.self) { try folder.save(template, .rightIndex, of: "ada", on: key) }
        try folder.remove(.leftThumb, of: "ada", on: key)
        #expect(FileManager.default.fileExists(atPath: path("7")))
        #expect(FileManager.default.fileExists(atPath: path("7_renamed")))
    }

    @Test func `lists all prints of a reader, or says that it cannot`() throws {
        let folder = PrintFolder(root: root)
        #expect(try folder.everything(on: key).isEmpty)
        for user in ["ada", "bob"] { try folder.save(template, .rightIndex, of: user, on: key) }
        try folder.save(template, .leftThumb, of: "bob", on: ReaderKey(driver: "other", number: "0"))
        #expect(FileManager.default.createFile(atPath: "\(root)/a file", contents: Data()))
        let all = try folder.everything(on: key)
        #expect(Set(all.map(\.user)) == ["ada", "bob"] && all.allSatisfy { $0.finger == .rightIndex })
        // A folder that is a link to itself can be listed by no one, root neither.
        try FileManager.default.removeItem(atPath: "\(root)/ada/virtual_image")
        try FileManager.default.createSymbolicLink(
            atPath: "\(root)/ada/virtual_image",
            withDestinationPath: "virtual_image"
        )
        #expect(folder.fingers(of: "ada", on: key) == [])
        #expect(throws: PrintStoreFault.self) { try folder.everything(on: key) }
    }

    @Test func `keeps the former print until the new one is whole`() throws {
        let folder = PrintFolder(root: root)
        try folder.save(template, .rightIndex, of: "ada", on: key)
        try FileManager.default.createDirectory(atPath: path(".7.new"), withIntermediateDirectories: false)
        #expect(throws: PrintStoreFault.self) {
            try folder.save(Template(bytes: [9]), .rightIndex, of: "ada", on: key)
        }
        #expect(folder.template(.rightIndex, of: "ada", on: key) == template)
    }
}
