// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `scripts/apple-symbols` tells a program's author what is missing here or differs.
struct AppleSymbolsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private let source = #"""
        import Foundation
        import Security
        // SecCodeCheckValidity is only spoken of, and so is "kSecUseItemList".
        /* SecStaticCodeCreateWithPath
           too */
        final class SecretStore {
            let error = "SecTrustCopyResult"
            func save() { SecItemAdd([:] as CFDictionary, nil) }
            func judge(_ trust: SecTrust) -> Bool { SecTrustEvaluateWithError(trust, nil) }
            func tell() -> String { "\(SecCopyErrorMessageString(errSecSuccess, nil)!) \(kSecOIDCommonName)" }
            func random() { SecRandomCopyBytes(kSecRandomDefault, 0, &bytes); SecFutureCall() }
        }
        """#

    @Test func `a program's symbols are told with the page's words, the missing ones first`() throws {
        let outcome = try run(["program.swift": source])
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let names = lines.dropLast().map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(
            names == [
                "missing SecFutureCall", "missing SecTrust", "missing SecTrustEvaluateWithError",
                "missing kSecOIDCommonName", "differs CFDictionary", "differs SecCopyErrorMessageString",
                "differs SecItemAdd",
            ]
        )
        #expect(lines.last == "4 missing, 3 differ")
        #expect(outcome.status == 1)
        let trust = try #require(lines.first { $0.contains("SecTrustEvaluateWithError") })
        #expect(trust.contains("program.swift:9)") && trust.contains("swift-certificates"))
    }

    @Test
    func `what a program declares itself is its own, and a program of the same names alone is in order`()
        throws
    {
        let own = """
            import Security
            struct SecSession {}
            let session = SecSession()
            let bytes = SecRandomCopyBytes(kSecRandomDefault, 0, &buffer)
            """
        let outcome = try run(["a/own.swift": own, "a/other.swift": "let again = SecSession()"])
        #expect(outcome.text == "0 missing, 0 differ\n")
        #expect(outcome.status == 0)
    }

    private func run(_ files: [String: String]) throws -> (status: Int32, text: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "symbols-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let process = Process()
        process.executableURL = Self.root.appending(path: "scripts/apple-symbols")
        process.arguments = [folder.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
