// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Every input that is kept in `Corpus` goes through the same doors as when it was found.
@Suite struct `Kept fuzzing inputs` {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    @Test(arguments: FuzzTarget.all)
    func `every kept input keeps its target's promise`(target: FuzzTarget) throws {
        let inputs = try Self.inputs(of: target.name)
        #expect(!inputs.isEmpty, "a target without an input is not replayed")
        for (name, input) in inputs {
            #expect(throws: Never.self, "\(target.name)/\(name)") { try target.check(input) }
        }
    }

    @Test(arguments: FuzzTarget.all)
    func `a target takes an empty input, and each kept one cut in half`(target: FuzzTarget) throws {
        let halves = try Self.inputs(of: target.name).map { Array($0.bytes.prefix($0.bytes.count / 2)) }
        for input in [[]] + halves { #expect(throws: Never.self) { try target.check(input) } }
    }

    @Test func `each folder is a target's, and all of them together are small`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
        let sizes = try FuzzTarget.all.flatMap { try Self.inputs(of: $0.name).map(\.bytes.count) }
        #expect(sizes.reduce(0, +) <= 200_000)
    }

    private static func inputs(of target: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = corpus.appending(path: target)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: folder.appending(path: name))))
        }
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}
