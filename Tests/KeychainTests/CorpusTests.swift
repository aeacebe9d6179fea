// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import KeychainIdioms
import Testing

/// The idioms of programs for Apple's systems (`Tests/Support/KeychainIdioms`), in this process and in programs of their
/// own; `Tests/System` runs the same program with the system's service.
@Suite(.timeLimit(.minutes(20))) struct `The corpus of idioms` {
    @Test func `each call has at least ten idioms, and each has a name of its own`() {
        for call in Idiom.Call.allCases {
            #expect(Idiom.all.filter { $0.call == call }.count >= 10, "\(call)")
        }
        #expect(Set(Idiom.all.map { "\($0.call) \($0.name)" }).count == Idiom.all.count)
    }

    @Test(arguments: Idiom.all.indices) func `an idiom does in this process what it expects`(index: Int)
        throws
    {
        let idiom = Idiom.all[index]
        let failure = try KeychainBench().run { idiom.failure() }
        #expect(failure == nil, "\(idiom.call): \(idiom.name)")
    }

    @Test(arguments: ["in-process", "private"])
    func `a program of its own finds every idiom as expected`(place: String) throws {
        let machine = try ProbedMachine(place)
        let outcome = try machine.run(["idioms"])
        #expect(outcome.lines == ["\(Idiom.all.count) of \(Idiom.all.count)"])
        #expect(outcome.status == 0)
    }

    @Test(arguments: ["in-process", "private"])
    func `persistent references name their items in other programs and after a restart`(place: String) throws
    {
        let machine = try ProbedMachine(place)
        let references = try machine.run(["keep", "one"]).lines
        try #require(references.count == 3)
        for (reference, name) in zip(references, ["genp", "inet", "keys"]) {
            let bytes = try #require(Data(base64Encoded: reference))
            #expect(bytes.count == 12 && bytes.prefix(4) == Data(name.utf8))
        }
        let others = try machine.run(["keep", "two"]).lines
        #expect(Set(references).isDisjoint(with: others))
        // Each run is another process, and of the private child another engine, too.
        let found = try machine.run(["find"] + others + references)
        #expect(
            found.lines == Array(repeating: "kept by two", count: 3)
                + Array(repeating: "kept by one", count: 3)
        )
        // The other place has the same directory of the same user.
        let elsewhere = try ProbedMachine(place == "private" ? "in-process" : "private", beside: machine)
        #expect(try elsewhere.run(["find"] + references).lines == Array(repeating: "kept by one", count: 3))
        // Another user of the machine has other items.
        let stranger = try machine.run(["find"] + references, profile: "eve")
        #expect(stranger.lines == Array(repeating: "-25300", count: 3))
    }
}

/// A folder in which the program `IdiomProbe` runs, without a chip.
private final class ProbedMachine {
    private let place: String
    private let folder: URL
    private let owner: ProbedMachine?

    /// Makes a folder, or uses that of another one.
    init(_ place: String, beside owner: ProbedMachine? = nil) throws {
        self.place = place
        self.owner = owner
        folder =
            owner?.folder
            ?? FileManager.default.temporaryDirectory.appending(path: "whorl-probe-\(UUID().uuidString)")
        if owner == nil {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
    }

    deinit { if owner == nil { try? FileManager.default.removeItem(at: folder) } }

    func run(
        _ arguments: [String],
        profile: String = "ada"
    ) throws -> (status: Int32, lines: [String]) {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = ChildProgram()
        process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "IdiomProbe")
        process.arguments = arguments
        var variables = [
            "HOME": folder.path, "TMPDIR": folder.path, "LANG": "C.UTF-8", "WHORL_SERVICE": place,
            "WHORL_STATE_DIR": folder.path + "/state", "WHORL_PROFILE": profile, "WHORL_READER": "mock:match",
            // Never the chip of the machine that the tests run on.
            "WHORL_TCTI": "none",
        ]
        for name in ["PATH", "LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        process.environment = variables
        let output = try ChildPipe()
        process.standardOutput = output.writing
        try process.start()
        try output.writing.close()
        let text = try output.reading.readToEnd() ?? Data()
        return (
            process.waitForEnd(),
            String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        )
    }
}
