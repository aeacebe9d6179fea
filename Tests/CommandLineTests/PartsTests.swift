// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Foundation
import Testing
import WhorlFingerprint
import WhorlSystem
import WhorlUSB
import WhorlVault

@testable import whorl
import WhorlService

struct ExitStatusTests {
    @Test func `nothing but success is 0`() {
        #expect(ExitStatus.allCases.filter { $0.rawValue == 0 } == [.success])
        #expect(ServiceError.Code.allCases.allSatisfy { Failure(ServiceError($0)).status != .success })
    }

    @Test(arguments: [
        ("The finger did not match.", "the finger did not match"), ("No.", "no"),
        ("A reader is busy.", "a reader is busy"),
        ("TPM 2.0 is missing.", "TPM 2.0 is missing"), ("WHORL_READER is empty.", "WHORL_READER is empty"),
        ("/proc cannot be written.", "/proc cannot be written"), ("", ""),
        ("Bad\u{1B}[0m\nline.", "bad[0m line"),
    ])
    func `messages begin in lower case and have no full stop`(sentence: String, phrase: String) {
        #expect(Console.phrase(sentence) == phrase)
    }
}

struct UserListTests {
    private func users(_ text: String) throws -> [String] {
        let path = FileManager.default.temporaryDirectory.path + "/users-\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try Enroll.users(in: path)
    }

    @Test func `a name is what stands on the line, without white space around it and a comment`() throws {
        #expect(try users("\u{FEFF}anna\r\n\n  bert\t# the second\n# carl\n") == ["anna", "bert"])
    }

    @Test(arguments: ["an na", "anna\tbert", "anna\0", "anna\0bert"])
    func `a line that is no name never becomes another user's`(line: String) throws {
        #expect(try users("\(line)\n") == [line])
        #expect(throws: Failure.self) { try Enroll.number(of: "root\0\(line)") }
    }

    @Test func `a file that is too long is refused, not cut`() throws {
        let comment = "#" + String(repeating: "c", count: 1 << 20)
        #expect(throws: Failure.self) { try users("anna\n\(comment)\nbert\n") }
    }
}

struct JSONValueTests {
    @Test func `members keep their order, and nil leaves one out`() {
        let value: JSONValue = ["b": 1, "a": nil, "c": [true, .null, .seconds(0.12345)], "d": "x"]
        #expect(value.line == #"{"b":1,"c":[true,null,0.123],"d":"x"}"#)
    }

    @Test(arguments: [
        "plain", "\"quoted\" \\", "\u{0}\u{1B}\u{7F}\u{9B}", "\u{2028}\u{202E}", "指紋 👍🏽", "a\r\nb\tc",
    ])
    func `what is written reads back as the same text`(text: String) throws {
        let line = JSONValue.string(text).line
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        let read = try JSONSerialization.jsonObject(with: Data("[\(line)]".utf8)) as? [String]
        #expect(read == [text])
    }

    /// A terminal may give these a meaning of its own: its own glyphs, or tags that a later Unicode assigns.
    @Test(arguments: [
        ("\u{E000}", #""\ue000""#), ("\u{378}", #""\u0378""#), ("\u{E0080}", #""\udb40\udc80""#),
    ])
    func `what no font of everybody shows is written as its number`(text: String, line: String) {
        #expect(JSONValue.string(text).line == line)
    }

    @Test func `a number that is none does not break the line`() {
        #expect(JSONValue.seconds(.infinity).line == "0")
    }
}

struct USBReadersTests {
    private static let list = """
        # Supported by libfprint driver elanmoc
        usb:v04F3p0C7D*
        usb:v06CBp00BD*
         ID_AUTOSUSPEND=1

        # Known unsupported devices
        usb:v0A5Cp5834*
        """

    @Test func `the supported devices are those before the unsupported ones`() {
        #expect(USBReaders.ids(in: Self.list) == ["04f3:0c7d", "06cb:00bd"])
    }

    @Test(arguments: [
        "v04F3p0::A", "v04F3p0C7", "v04F3q0C7D", "v04pp0C7D", "v04F3p0C7\u{FF24}", "v04F3p0C7D\u{301}",
    ])
    func `a line without two numbers is no device`(line: String) {
        #expect(USBReaders.ids(in: "usb:\(line)*").isEmpty)
    }

    @Test func `a connected reader is found, and whether it may be opened`() throws {
        let folder = NSTemporaryDirectory() + "whorl-test-" + UUID().uuidString.prefix(12).lowercased()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ text: String, _ name: String) throws {
            let path = URL(filePath: "\(folder)/\(name)")
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: path)
        }
        try write(Self.list, "list")
        for (place, vendor, product) in [
            ("1-1", "04f3", "0c7d"), ("1-2", "1d6b", "0002"), ("1-3", "0a5c", "5834"),
        ] {
            try write(vendor + "\n", "usb/\(place)/idVendor")
            try write(product + "\n", "usb/\(place)/idProduct")
            try write("998\n", "usb/\(place)/busnum")
            try write("7\n", "usb/\(place)/devnum")
        }
        let found = USBReaders.connected(
            lists: [folder + "/none", folder + "/list"],
            devices: folder + "/usb"
        )
        #expect(found.map(\.id) == ["04f3:0c7d"] && found.map(\.node) == ["/dev/bus/usb/998/007"])
        #expect(found.map(\.isAccessible) == [false] && found.map(\.access.state) == [.unknown])
    }

    // Docs/Security.md: C1a
    @Test(arguments: zip(ReaderAccess.State.allCases, [Check.Verdict.good, .bad, .warning, .warning]))
    func `doctor says that a reader is closed only where that was measured`(
        state: ReaderAccess.State,
        verdict: Check.Verdict
    ) {
        let device = USBReaders.Device(
            id: "04f3:0c7d",
            node: "/dev/bus/usb/001/002",
            isAccessible: false,
            access: ReaderAccess(state, ["the user eve"])
        )
        #expect(ReaderDiagnosis.check(device.access, of: device).verdict == verdict)
    }
}
