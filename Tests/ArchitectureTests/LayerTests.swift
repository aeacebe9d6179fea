// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The one rule of the house: a target uses targets of its own floor and of lower ones (Docs/Architecture.md).
///
/// The floors are the list `house` of Package.swift; there is no second list.
@Suite struct `The floors` {
    /// A floor: its folder in `Sources`, and its targets in the order of the manifest.
    private struct Floor {
        let name: String
        var targets: [Target]
    }

    /// The floors of the manifest, from the ground up.
    private static func floors() throws -> [Floor] {
        var floors: [Floor] = []
        for target in try targets() {
            let name = target.folder.split(separator: "/").dropFirst().dropLast().joined(separator: "/")
            if floors.last?.name != name { floors.append(Floor(name: name, targets: [])) }
            floors[floors.count - 1].targets.append(target)
        }
        return floors
    }

    /// The floors as Docs/Architecture.md shows them, the highest first.
    private static func picture() throws -> String {
        let floors = try floors()
        let width = floors.map(\.name.count).max() ?? 0
        let rows = floors.reversed().map { floor in
            "  " + floor.name.padding(toLength: width, withPad: " ", startingAt: 0) + "  │ "
                + floor.targets.map(\.name).joined(separator: "  ")
        }
        return "```\n" + rows.joined(separator: "\n") + "\n```"
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `each target lies in its floor's folder, and uses its own floor and lower ones`() throws {
        var known: Set<String> = []
        var names: Set<String> = []
        for floor in try Self.floors() {
            #expect(names.insert(floor.name).inserted, "\(floor.name) stands in two places")
            known.formUnion(floor.targets.map(\.name))
            for target in floor.targets {
                #expect(target.folder == "Sources/\(floor.name)/\(target.name)")
                let higher = target.uses.subtracting(known)
                #expect(higher.isEmpty, "\(target.name) uses \(higher.sorted()), which are higher")
            }
        }
    }

    @Test func `without the trait for the engine, a program that embeds us needs no C library`() throws {
        let reached = try Self.reachedWithoutEngine([
            "LocalAuthentication", "LocalAuthenticationPrompts", "KeychainServices", "SecureEnclaveKeys",
            "Security", "CryptoKit", "CoreFoundation", "BiometricLogin", "BiometricLoginHTTP",
            "LoginAssertion", "LoginTransport", "WhorlFingerprint", "MockReader", "WhorlRemote",
        ])
        let libraries = try Self.targets().filter { $0.type == "system" }.map(\.name)
        // It has declarations of the C library's calls alone.
        #expect(reached.intersection(libraries) == ["CWhorlSocket"])
        #expect(try Self.targets().contains { !$0.usesWithEngine.isEmpty })
    }

    /// The machine of apps' tests has the engine, with its database and its vault, whichever traits are enabled.
    @Test func `the tests of apps need no reader's library, and no GLib`() throws {
        let reached = try Self.reachedWithoutEngine(["LocalAuthenticationTesting"])
        #expect(reached.isSuperset(of: ["WhorlEngine", "CWhorlSQLite"]))
        #expect(reached.isDisjoint(with: ["CWhorlFprint", "CWhorlGLib"]))
    }

    /// Returns what is built for some targets where the package's trait `Engine` is not enabled.
    private static func reachedWithoutEngine(_ names: Set<String>) throws -> Set<String> {
        let targets = try targets()
        var reached = names
        var size = 0
        while reached.count > size {
            size = reached.count
            for target in targets where reached.contains(target.name) {
                reached.formUnion(target.uses.subtracting(target.usesWithEngine))
            }
        }
        return reached
    }

    @Test func `each folder of sources is a target's`() throws {
        let folders = Set(try Self.targets().map(\.folder))
        let sources = FileManager.default.enumerator(atPath: Self.root.appending(path: "Sources").path)
        for case let file as String in try #require(sources) where file.hasSuffix(".swift") {
            #expect(folders.contains { ("Sources/" + file).hasPrefix($0 + "/") }, "\(file)")
        }
    }

    @Test func `the documentation shows the floors`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/Architecture.md"), encoding: .utf8)
        let marked = page.firstMatch(of: /<!-- floors -->\n(?<picture>[\s\S]*?)\n<!-- end of floors -->/)
        #expect(marked.map { String($0.output.picture) } == (try Self.picture()))
    }

    @Test func `every import of our own modules is declared in the manifest`() throws {
        let targets = try Self.targets()
        let names = Set(targets.map(\.name))
        for target in targets where target.type != "system" {
            let imported = try Self.imports(of: target).intersection(names)
            #expect(imported.isSubset(of: target.uses), "\(target.name)")
        }
    }

    /// What a client names is a protocol or a value of `WhorlService` (Docs/decisions/0006-one-wall.md).
    ///
    /// Nothing above the wall opens the state directory, the reader or the TPM. `WhorlSystem` is the root that puts the
    /// services of this process together, and `LocalAuthenticationTesting` that of the machines of apps' tests.
    @Test func `nothing above the wall names what is behind it`() throws {
        let targets = try Self.targets()
        let behind = Set(
            targets.filter { target in
                let floor = target.folder.split(separator: "/")[1]
                let isRoot = [
                    "WhorlSystem", "WhorlCallers", "WhorlIPC", "WhorlRemote", "WhorlFprint",
                ].contains(target.name)
                return ["State", "Service"].contains(floor) && !isRoot
            }.map(\.name)
        ).union(["WhorlLibfprint", "WhorlTPM"])
        #expect(
            behind.isSuperset(of: [
                "WhorlStateStore", "WhorlEnrollment", "WhorlVault", "WhorlEngine",
            ])
        )
        for target in targets {
            let floor = target.folder.split(separator: "/")[1]
            guard ["Faces", "Login", "Programs"].contains(floor), target.name != "LocalAuthenticationTesting"
            else {
                continue
            }
            let named = try Self.imports(of: target).intersection(behind)
            #expect(named == [], "\(target.name)")
        }
    }

    /// Programs that ask the service, and those that have the engine in them, do not build what serves the bus.
    @Test func `fprintd's interface is linked by the service alone`() throws {
        let users = try Self.targets().filter { $0.uses.contains("WhorlFprint") }
        #expect(users.map(\.name) == ["whorld"])
    }

    /// A server has neither a reader nor a TPM, and must not link their libraries.
    @Test func `the server's half of a login uses nothing of the device's`() throws {
        let ofServer: Set = ["WhorlLoginOrigin", "LoginAssertion", "RelyingParty", "WhorlSupport"]
        for target in try Self.targets() where ofServer.contains(target.name) {
            #expect(target.uses.isSubset(of: ofServer), "\(target.name)")
        }
    }

    /// PostgreSQL, a browser and Apache are for the package in `Server` alone, with its own targets of make.
    @Test func `nothing outside of the login server's package needs its libraries and programs`() throws {
        let places = ["Package.swift", "Sources", "Tests/RelyingPartyTests"].map {
            Self.root.appending(path: $0)
        }
        for place in places {
            let below = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
            for file in [place] + (below?.allObjects as? [URL] ?? []) where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(!text.contains(/\b(libpq|CPQ|RelyingPartyPostgreSQL)\b/), "\(file.path)")
            }
        }
        let setup = try String(contentsOf: Self.root.appending(path: "scripts/setup"), encoding: .utf8)
        let packages = try ["swift", "build", "demo", "tests"].map { name in
            try #require(setup.firstMatch(of: try Regex("(?m)^\(name)=\"(.*)\"$"))?.output[1].substring)
        }
        #expect(packages.joined().contains("tpm2-tools"))
        #expect(!packages.joined(separator: " ").contains(/libpq|postgres|pgbouncer|chromium|apache|\bwrk\b/))
        let make = try String(contentsOf: Self.root.appending(path: "Makefile"), encoding: .utf8)
        let test = try #require(make.firstMatch(of: /(?m)^test: (?<needs>.*?)##.*\n(?<steps>(?:\t.*\n)+)/))
            .output
        #expect(!"\(test.needs) \(test.steps)".contains(/server/))
    }

    /// A module of this name makes `#if canImport(…)` true in every package of a build that has it.
    @Test func `nothing depends on the modules that have Apple's names for what is in others`() throws {
        for target in try Self.targets() {
            let names: Set = ["Security", "CryptoKit", "CoreFoundation"]
            #expect(target.uses.isDisjoint(with: names), "\(target.name)")
        }
    }

    /// C pointers stay inside the modules that exist to wrap C.
    @Test func `C modules are imported by their wrappers only`() throws {
        let wrappers: Set = [
            "WhorlGLib", "WhorlLibfprint", "WhorlSQLite", "WhorlTPM", "WhorlUSB", "WhorlIPC",
            "whorl-login-http",
        ]
        let targets = try Self.targets()
        let libraries = Set(targets.filter { $0.type == "system" }.map(\.name))
        #expect(libraries.count > 1)
        for target in targets where target.type != "system" && !wrappers.contains(target.name) {
            #expect(try Self.imports(of: target).isDisjoint(with: libraries), "\(target.name)")
        }
    }

    /// A program that depends on this package builds without libcurl's headers, because no product needs them.
    @Test func `libcurl is needed by the program with the network alone`() throws {
        let users = try Self.targets().filter { $0.uses.contains("CWhorlCurl") }.map(\.name)
        #expect(users == ["whorl-login-http"])
    }

    /// `*_sync` would block the GLib thread, and with it every cancellation and every other reader.
    @Test func `no synchronous call of libfprint is made`() throws {
        for target in try Self.targets() where ["WhorlGLib", "WhorlLibfprint"].contains(target.name) {
            // For the system's bus this one reads a variable of the environment, and waits for nothing.
            let address = "g_dbus_address_get_for_bus_sync("
            for source in try Self.sources(of: target) {
                #expect(!source.replacing(address, with: "").contains("_sync("))
            }
        }
    }

    /// Standard output belongs to programs; a library that prints spoils their output.
    @Test func `nothing below the programs prints`() throws {
        for target in try Self.targets() where target.name != "whorl" {
            for source in try Self.sources(of: target) {
                #expect(
                    source.firstMatch(of: /(?m)^\s*(print|debugPrint|dump|NSLog)\(/) == nil,
                    "\(target.name)"
                )
            }
        }
    }

    private static func sources(of target: Target) throws -> [String] {
        let folder = root.appending(path: target.folder)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    private static func imports(of target: Target) throws -> Set<String> {
        let pattern = /(?m)^(?:@\w+ )*(?:public |package |internal |private )?import (?:\w+ )?(\w+)/
        return Set(try sources(of: target).flatMap { $0.matches(of: pattern).map { String($0.1) } })
    }

    /// A target of the manifest that is not for tests.
    private struct Target {
        let name: String
        let type: String
        let folder: String
        /// The targets of ours that it depends on.
        let uses: Set<String>
        /// Those of them that it uses only where the package's trait `Engine` is enabled.
        let usesWithEngine: Set<String>
    }

    private static func targets() throws -> [Target] { try manifest.get() }

    /// The targets in the order of the manifest, as `swift package dump-package` tells it.
    private static let manifest = Result { try readManifest() }

    private static func readManifest() throws -> [Target] {
        struct Manifest: Decodable { let targets: [Entry] }
        struct Entry: Decodable {
            let name: String
            let type: String
            let path: String?
            let dependencies: [[String: [Name?]]]
        }
        /// Each dependency is `{"byName": ["X", null]}`, or the like with a product; the condition can follow the name.
        struct Name: Decodable {
            let text: String?
            let traits: [String]
            private struct Condition: Decodable { let traits: [String]? }
            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                // A member is a text, a condition, or something that is of no interest here.
                text = try? value.decode(String.self)
                traits = (try? value.decode(Condition.self))?.traits ?? []
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
        let entries = try JSONDecoder().decode(Manifest.self, from: data).targets
            .filter { $0.path?.hasPrefix("Sources/") == true }
        let names = Set(entries.map(\.name))
        return entries.map { entry in
            let members = entry.dependencies.flatMap(\.values)
            func used(_ members: [[Name?]]) -> Set<String> {
                Set(members.compactMap { ($0.first ?? nil)?.text }).intersection(names)
            }
            return Target(
                name: entry.name,
                type: entry.type,
                folder: entry.path ?? "",
                uses: used(members),
                usesWithEngine: used(members.filter { $0.contains { $0?.traits == ["Engine"] } })
            )
        }
    }
}
