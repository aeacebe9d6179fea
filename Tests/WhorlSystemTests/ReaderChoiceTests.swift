// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import Testing
import WhorlService
import WhorlSystem

/// Which reader is taken, and that a pretended one is never taken silently.
@Suite struct `The reader that is meant` {
    private func services(_ environment: [String: String], pretended: Bool = true) -> InProcessRoot {
        var configuration = SystemConfiguration(environment: environment)
        configuration.allowsTestReaders = pretended
        configuration.stateDirectory = "/nonexistent/whorl"
        return InProcessRoot(configuration)
    }

    @Test func `is a mock only where one is named`() async throws {
        let reader = try await services(["WHORL_READER": "mock:no-match"]).services.readers.chosenReader()
        #expect(await reader.info.kind == .mock)
        for reader in try await services([:]).services.readers.readers() {
            #expect(await reader.info.kind != .mock)
        }
    }

    // Docs/Security.md: S35
    @Test func `is never a mock where the program allows none`() async {
        let error = await #expect(throws: ServiceError.self) {
            _ = try await services(["WHORL_READER": "mock:match"], pretended: false).services.readers
                .chosenReader()
        }
        #expect(error?.code == .readerNotChosen)
    }

    // Docs/Security.md: A10
    @Test func `is asked for by name, and a name that nobody has is an error`() async {
        let error = await #expect(throws: ServiceError.self) {
            _ = try await services(["WHORL_READER": "no-such-reader"]).services.readers.chosenReader()
        }
        #expect(error?.code == .readerNotChosen)
        #expect(error?.message.contains("no-such-reader") == true)
    }

    @Test func `is not guessed from a script that cannot be read`() async {
        let error = await #expect(throws: ServiceError.self) {
            _ = try await services(["WHORL_READER": "mock:mtach"]).services.readers.chosenReader()
        }
        #expect(error?.code == .readerNotChosen)
        #expect(error?.message.contains("script") == true)
    }

    @Test func `keeps its place in the script within one process`() async throws {
        let services = services(["WHORL_READER": "mock:no-match"])
        let first = try await services.services.readers.chosenReader()
        #expect(try await services.services.readers.chosenReader() === first)
    }
}

@Suite struct `A configuration` {
    @Test func `takes its variables, and an empty one is not set`() {
        let configuration = SystemConfiguration(environment: [
            "WHORL_STATE_DIR": "/a", "WHORL_PROFILE": "", "WHORL_READER": "r",
        ])
        #expect(configuration.stateDirectory == "/a")
        #expect(configuration.profile == nil)
        #expect(configuration.reader == "r")
    }

    @Test func `opens and makes nothing by itself`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "whorl-none-\(UUID())").path
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = path
        #expect(try await InProcessRoot(configuration).engine.state.existingStore() == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `names the user by the user database and the program by its file`() {
        let services = InProcessRoot(SystemConfiguration(environment: ["USER": "somebody-else"]))
        #expect(services.profile != "somebody-else")
        #expect(!services.application.rawValue.contains("/"))
    }
}
