// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The one rule of the house: a target uses only targets on lower floors (Docs/Architecture.md, section 1).
@Suite struct `The floors` {
    /// One row of the picture.
    struct Floor: Sendable {
        let purpose: String
        let targets: [String]
    }

    /// All targets but those of tests, from the ground up: the only list beside the manifest.
    ///
    /// A new target needs a place here; the picture in Docs/Architecture.md is made from it.
    static let floors = [
        Floor(purpose: "C libraries", targets: ["CFprint", "CGLib", "CPNG", "CPQ", "CTSS2"]),
        Floor(
            purpose: "ground",
            targets: [
                "Fingerprint", "GreyscalePNG", "LoginAssertion", "SecretMemory", "SyntheticFingers",
                "WhorlSupport",
            ]
        ),
        Floor(
            purpose: "one thing each",
            targets: ["GLibRuntime", "LoginTransport", "MockReader", "RelyingParty", "StateStore", "TPM"]
        ),
        Floor(
            purpose: "with state",
            targets: [
                "BiometricLoginHTTP", "Enrollment", "LibfprintReader", "RelyingPartyPostgreSQL", "Vault",
            ]
        ),
        Floor(purpose: "the engine", targets: ["Authentication", "whorl-login-http"]),
        Floor(purpose: "the prompt", targets: ["TerminalPrompt"]),
        Floor(purpose: "all together", targets: ["WhorlSystem"]),
        Floor(purpose: "a context", targets: ["AuthenticationContext"]),
        Floor(purpose: "Apple's API", targets: ["Keychain", "LocalAuthenticationTesting"]),
        Floor(purpose: "Apple's API", targets: ["BiometricLogin", "LocalAuthentication", "Security"]),
        Floor(purpose: "on top", targets: ["SecureEnclaveKeys", "whorl"]),
        Floor(purpose: "on top", targets: ["CryptoKit"]),
    ]

    /// The floors as Docs/Architecture.md shows them, the highest first.
    private static var picture: String {
        let width = floors.map(\.purpose.count).max() ?? 0
        let rows = floors.reversed().map { floor in
            "  " + floor.purpose.padding(toLength: width, withPad: " ", startingAt: 0) + "  │ "
                + floor.targets.joined(separator: "  ")
        }
        return "```\n" + rows.joined(separator: "\n") + "\n```"
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let targets = floors.flatMap(\.targets)

    @Test func `each target is on one floor, and uses only lower ones`() throws {
        let declared = try Self.manifest()
        #expect(declared.keys.sorted() == Self.targets.sorted())
        var below: Set<String> = []
        for floor in Self.floors {
            for target in floor.targets {
                let higher = declared[target, default: []].subtracting(below)
                #expect(higher.isEmpty, "\(target) uses \(higher.sorted()), on its own floor or above")
            }
            below.formUnion(floor.targets)
        }
    }

    @Test func `the documentation shows the floors`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/Architecture.md"), encoding: .utf8)
        let marked = page.firstMatch(of: /<!-- floors -->\n(?<picture>[\s\S]*?)\n<!-- end of floors -->/)
        #expect(marked.map { String($0.output.picture) } == Self.picture)
    }

    @Test func `every import of our own modules is declared in the manifest`() throws {
        let declared = try Self.manifest()
        for target in Self.targets where !target.hasPrefix("C") || target == "CryptoKit" {
            let imported = try Self.imports(of: target).intersection(Self.targets)
            #expect(imported.isSubset(of: declared[target] ?? []), "\(target)")
        }
    }

    /// A server has neither a reader nor a TPM, and must not link their libraries.
    @Test func `the server's half of a login uses nothing of the device's`() throws {
        let declared = try Self.manifest()
        let ofServer: Set = [
            "CPQ", "LoginAssertion", "RelyingParty", "RelyingPartyPostgreSQL", "WhorlSupport",
        ]
        for target in ofServer { #expect(declared[target]?.isSubset(of: ofServer) == true, "\(target)") }
    }

    /// A module of this name makes `#if canImport(…)` true in every package of a build that has it.
    @Test func `nothing depends on the modules that have Apple's names for what is in others`() throws {
        for (target, uses) in try Self.manifest() {
            #expect(uses.isDisjoint(with: ["Security", "CryptoKit"]), "\(target)")
        }
    }

    /// C pointers stay inside the modules that exist to wrap C.
    @Test func `C modules are imported by their wrappers only`() throws {
        let wrappers: Set = [
            "GLibRuntime", "LibfprintReader", "GreyscalePNG", "RelyingPartyPostgreSQL", "TPM",
        ]
        for target in Set(Self.targets).subtracting(wrappers) {
            let imports = try Self.imports(of: target)
            #expect(imports.isDisjoint(with: Self.floors[0].targets), "\(target)")
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
        for target in Self.targets where target != "whorl" {
            for source in try Self.sources(of: target) {
                #expect(source.firstMatch(of: /(?m)^\s*(print|debugPrint|dump|NSLog)\(/) == nil, "\(target)")
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

    /// The targets of the manifest that are not for tests, each with those of ours that it depends on.
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
