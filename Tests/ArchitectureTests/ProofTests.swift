// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What decides is reached from few places: those that make a proof, and those that bring another machine.
struct ProofTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    @Test func `only the engine makes the proof of a matched finger`() throws {
        let makers = try files(containing: "matchedFinger(of").map(module)
        // In `WhorlVault` it is declared, and nothing else.
        #expect(makers.sorted() == ["WhorlEngine", "WhorlVault"])
    }

    @Test func `only the engine, and a made-up machine, makes the consent of an owner`() throws {
        let makers = try files(containing: "OwnerConsent(to").map(module)
        #expect(Set(makers) == ["LocalAuthenticationTesting", "WhorlEngine"])
    }

    @Test func `only fprintd's clients, its prints' takeover and an account's end change fingers by rule`()
        throws
    {
        let callers = try files(containing: ".consentOfAccount(").map(\.lastPathComponent)
        #expect(
            callers.sorted() == [
                "AccountFingers.swift", "InProcessRoot+Forgetting.swift", "InProcessRoot+TakingOver.swift",
            ]
        )
    }

    @Test func `only the engine makes what enrolls, so that each touch is counted`() throws {
        let makers = try files(containing: " FingerEnroller(store").map(module)
        #expect(makers == ["WhorlEngine"])
    }

    @Test func `only the module for apps' tests puts a made-up machine in the place of this one`() throws {
        let ofProcess = try files(containing: "ContextParts.ofProcess").map(\.lastPathComponent)
        #expect(ofProcess == ["TestDevice.swift"])
        // A right's work hands its own task's machine on to a thread.
        let ofTask = try files(containing: "ContextParts.$ofTask").map(\.lastPathComponent)
        #expect(ofTask.sorted() == ["RightQueue.swift", "TestDevice.swift"])
    }

    /// The target whose source a file is: `Sources/FLOOR/TARGET/…`.
    private func module(_ file: URL) -> String {
        file.pathComponents.dropFirst(Self.sources.pathComponents.count + 1).first ?? ""
    }

    private func files(containing text: String) throws -> [URL] {
        let files = FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil)
        return try (files?.allObjects as? [URL] ?? [])
            .filter { $0.pathExtension == "swift" }
            .filter { try String(contentsOf: $0, encoding: .utf8).contains(text) }
    }
}
