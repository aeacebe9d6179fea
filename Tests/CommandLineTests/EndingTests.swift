// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The end of the program, when its answer is written.
@Suite struct `The end of the program` {
    /// A library whose clean-up fails, as one does whose threads still run.
    private static let library = """
        #include <unistd.h>
        __attribute__((destructor)) static void fail(void) { _exit(99); }
        """

    private let whorl: WhorlProgram
    private let preload: String

    init() async throws {
        whorl = try WhorlProgram()
        preload = whorl.home + "/fails.so"
        try Self.library.write(toFile: whorl.home + "/fails.c", atomically: true, encoding: .utf8)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        let made = try await whorl.run(
            "/usr/bin/env",
            ["clang", "-shared", "-fPIC", "-o", preload, whorl.home + "/fails.c"],
            environment: ["PATH": path]
        )
        try #require(made.status == 0, "\(made)")
    }

    @Test(arguments: [["fingers"]: Int32(0), ["devices", "--json"]: 0, ["no-such-command"]: 64])
    func `the clean-up of a library does not change a command's status`(
        arguments: [String],
        status: Int32
    ) async throws {
        let probe = try await whorl.run("/bin/true", [], environment: ["LD_PRELOAD": preload])
        #expect(probe.status == 99, "the library must fail a program that cleans up: \(probe)")
        let outcome = try await whorl.run(
            arguments,
            reader: "mock:match",
            environment: ["LD_PRELOAD": preload]
        )
        #expect(outcome.status == status, "\(outcome)")
    }
}
