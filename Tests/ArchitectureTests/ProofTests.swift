// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The step from a match to what the chip accepts is made in one place.
struct ProofTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    @Test func `only the engine makes the proof of a matched finger`() throws {
        let files = FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil)
        let makers = try (files?.allObjects as? [URL] ?? [])
            .filter { $0.pathExtension == "swift" }
            .filter { try String(contentsOf: $0, encoding: .utf8).contains("matchedFinger(of") }
            .map { $0.deletingLastPathComponent().lastPathComponent }
        // In `Vault` it is declared, and nothing else.
        #expect(makers.sorted() == ["Authentication", "Vault"])
    }
}
