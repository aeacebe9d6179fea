// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What the programs are linked to, read from their files.
struct `The libraries of the programs` {
    private func libraries(of program: String) async throws -> [String] {
        let path = URL(filePath: WhorlProgram.path).deletingLastPathComponent().appending(path: program).path
        return try await WhorlProgram().run("/usr/bin/readelf", ["--dynamic", "--wide", path]).lines
            .filter { $0.contains("(NEEDED)") }
    }

    /// Foundation and its tables would make each of them three times as large.
    @Test(arguments: ["whorl", "whorld", "whorl-simulate"])
    func `are without Foundation and ICU`(program: String) async throws {
        let libraries = try await libraries(of: program)
        #expect(libraries.contains { $0.contains("[libc.so.6]") })
        #expect(libraries.filter { $0.contains(/libFoundation\.so|Internationalization|ICU|XML/) } == [])
    }

    @Test func `are the engine's in the service, and none of these in the command`() async throws {
        let engine = [
            "libfprint-2", "libglib-2.0", "libgio-2.0", "libgobject-2.0", "libtss2-esys", "libsqlite3",
            "libcrypto",
        ]
        func found(in libraries: [String]) -> [String] {
            engine.filter { name in libraries.contains { $0.contains("[\(name).") } }
        }
        let service = try await libraries(of: "whorld")
        #expect(found(in: service).contains("libfprint-2") && found(in: service).contains("libsqlite3"))
        let command = try await libraries(of: "whorl")
        #expect(found(in: command) == [])
    }
}
