// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The one rule of the house: a target uses only what stands below it (Docs/Architecture.md, section 1).
@Suite struct `The layers` {
    /// What each target may use, from the ground up.
    ///
    /// A new target needs a row here.
    static let allowed: [(target: String, uses: Set<String>)] = [
        ("CGLib", []),
        ("CFprint", []),
        ("CPNG", []),
        ("CPQ", []),
        ("CTSS2", []),
        ("SecretMemory", []),
        ("GLibRuntime", ["CGLib"]),
        ("TPM", ["CTSS2", "SecretMemory"]),
        ("Fingerprint", []),
        ("MockReader", ["Fingerprint"]),
        ("LibfprintReader", ["CFprint", "CGLib", "Fingerprint", "GLibRuntime"]),
        ("StateStore", ["SecretMemory"]),
        ("Enrollment", ["Fingerprint", "SecretMemory", "StateStore"]),
        ("Vault", ["SecretMemory", "StateStore", "TPM"]),
        ("Authentication", ["Enrollment", "Fingerprint", "SecretMemory", "StateStore", "Vault"]),
        ("TerminalPrompt", ["Authentication", "Fingerprint", "SecretMemory"]),
        (
            "WhorlSystem",
            [
                "Authentication", "Enrollment", "Fingerprint", "LibfprintReader", "MockReader", "StateStore",
                "TPM", "TerminalPrompt", "Vault",
            ]
        ),
        ("AuthenticationContext", ["Authentication", "SecretMemory", "StateStore", "Vault", "WhorlSystem"]),
        ("Keychain", ["Authentication", "AuthenticationContext", "SecretMemory", "StateStore", "Vault"]),
        (
            "LocalAuthentication",
            [
                "Authentication", "AuthenticationContext", "Fingerprint", "Keychain", "SecretMemory",
                "StateStore", "Vault",
            ]
        ),
        ("SecureEnclaveKeys", ["AuthenticationContext", "Keychain", "LocalAuthentication", "SecretMemory"]),
        (
            "LocalAuthenticationTesting",
            [
                "Authentication", "AuthenticationContext", "Enrollment", "Fingerprint", "MockReader",
                "SecretMemory", "StateStore", "Vault",
            ]
        ),
        ("Security", ["Keychain"]),
        ("CryptoKit", ["SecureEnclaveKeys"]),
        ("CoreFoundation", ["Keychain"]),
        ("LoginAssertion", []),
        ("RelyingParty", ["LoginAssertion"]),
        ("RelyingPartyPostgreSQL", ["CPQ", "LoginAssertion", "RelyingParty"]),
        ("LoginTransport", ["LoginAssertion", "SecretMemory"]),
        (
            "BiometricLogin",
            [
                "Authentication", "AuthenticationContext", "Fingerprint", "Keychain", "LoginAssertion",
                "LoginTransport", "SecretMemory", "StateStore", "Vault",
            ]
        ),
        ("BiometricLoginHTTP", ["LoginAssertion", "LoginTransport", "SecretMemory"]),
        ("whorl-login-http", ["BiometricLoginHTTP", "LoginAssertion", "LoginTransport", "SecretMemory"]),
        ("SyntheticFingers", []),
        ("GreyscalePNG", ["CPNG"]),
        (
            "whorl",
            [
                "Authentication", "AuthenticationContext", "BiometricLogin", "Enrollment", "Fingerprint",
                "GreyscalePNG", "LoginAssertion", "LoginTransport", "SecretMemory", "StateStore",
                "SyntheticFingers", "TPM", "TerminalPrompt", "Vault", "WhorlSystem",
            ]
        ),
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `each row uses only rows above it`() {
        var above: Set<String> = []
        for row in Self.allowed {
            #expect(row.uses.isSubset(of: above), "\(row.target) uses what does not stand below it")
            above.insert(row.target)
        }
    }

    @Test func `the manifest declares what the table allows, and nothing else`() throws {
        let allowed = Dictionary(uniqueKeysWithValues: Self.allowed.map { ($0.target, $0.uses) })
        let declared = try Self.manifest()
        #expect(Set(declared.keys) == Set(allowed.keys))
        for (target, uses) in declared {
            #expect(uses.isSubset(of: allowed[target] ?? []), "\(target) declares more than the table allows")
        }
    }

    @Test(arguments: allowed.filter { !$0.target.hasPrefix("C") }.map(\.target))
    func `every import of our own modules is in the table`(target: String) throws {
        let allowed = Dictionary(uniqueKeysWithValues: Self.allowed.map { ($0.target, $0.uses) })
        let imported = try Self.imports(of: target).intersection(allowed.keys)
        #expect(imported.isSubset(of: allowed[target] ?? []))
    }

    /// A module of this name makes `#if canImport(…)` true in every package of a build that has it.
    @Test func `nothing depends on the modules that have Apple's names for what is in others`() {
        for row in Self.allowed {
            #expect(row.uses.isDisjoint(with: ["Security", "CryptoKit", "CoreFoundation"]))
        }
    }

    /// C pointers stay inside the modules that exist to wrap C.
    @Test func `C modules are imported by their wrappers only`() throws {
        for row in Self.allowed
        where !["GLibRuntime", "LibfprintReader", "GreyscalePNG", "RelyingPartyPostgreSQL", "TPM"]
            .contains(row.target)
        {
            let imports = try Self.imports(of: row.target)
            #expect(imports.isDisjoint(with: ["CGLib", "CFprint", "CPNG", "CPQ", "CTSS2"]), "\(row.target)")
        }
    }

    /// `*_sync` would block the GLib thread, and with it every cancellation and every other reader.
    @Test func `no synchronous call of libfprint is made`() throws {
        for target in ["GLibRuntime", "LibfprintReader"] {
            for source in try Self.sources(of: target) { #expect(!source.contains("_sync(")) }
        }
    }

    /// Standard output belongs to programs; a library that prints spoils their output.
    @Test func `nothing below the programs prints`() throws {
        for row in Self.allowed where row.target != "whorl" && !row.target.hasPrefix("C") {
            for source in try Self.sources(of: row.target) {
                #expect(
                    source.firstMatch(of: /(?m)^\s*(print|debugPrint|dump|NSLog)\(/) == nil,
                    "\(row.target)"
                )
            }
        }
    }

    private static func sources(of target: String) throws -> [String] {
        let folder = root.appending(path: "Sources/\(target)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    private static func imports(of target: String) throws -> Set<String> {
        let pattern = /(?m)^(?:@\w+ )*(?:public |package |internal |private )?import (?:\w+ )?(\w+)/
        return Set(try sources(of: target).flatMap { $0.matches(of: pattern).map { String($0.1) } })
    }

    /// What `swift package dump-package` says of the targets that are not tests.
    private static func manifest() throws -> [String: Set<String>] {
        struct Manifest: Decodable { let targets: [Target] }
        struct Target: Decodable {
            let name: String
            let type: String
            let path: String?
            let dependencies: [[String: [Name?]]]
        }
        /// Each dependency is `{"byName": ["X", null]}`, or the like with a product.
        struct Name: Decodable {
            let text: String?
            init(from decoder: any Decoder) throws {
                text = try? decoder.singleValueContainer().decode(String.self)
            }
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let scratch = FileManager.default.temporaryDirectory.appending(path: "whorl-layers-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        process.arguments = [
            "swift", "package", "--package-path", root.path, "--scratch-path", scratch, "dump-package",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let targets = try JSONDecoder().decode(Manifest.self, from: data).targets
        let ours = targets.filter { $0.type != "test" && $0.path == nil }
        let names = Set(ours.map(\.name))
        return Dictionary(
            uniqueKeysWithValues: ours.map { target in
                let uses = target.dependencies.flatMap(\.values).compactMap { $0.first ?? nil }.compactMap(
                    \.text
                )
                return (target.name, Set(uses).intersection(names))
            }
        )
    }
}
