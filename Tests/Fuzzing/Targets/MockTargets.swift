// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint

@testable import MockReader

extension FuzzTarget {
    static let mockTargets: [FuzzTarget] = [
        FuzzTarget(name: "mock-script", longestInput: 2048, check: mockScript),
        FuzzTarget(name: "mock-storage", longestInput: 1024, check: mockStorage),
        FuzzTarget(name: "mock-template", longestInput: 120, check: mockTemplate),
    ]

    /// What is read reads back, from its own description, as the same.
    private static func mockScript(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        // No input names a file: what is in it would be the machine's and not the input's.
        guard !text.hasPrefix("@"), let script = try? MockScript(parsing: text) else { return }
        // Many steps make a description of more bytes than a script may have.
        let description = script.description
        guard !description.isEmpty, description.utf8.count <= MockScript.maximumBytes else { return }
        let again = try? MockScript(parsing: description)
        try promise(again == script, "\(description.debugDescription) is another script")
    }

    /// What is read is written as something that reads as the same.
    private static func mockStorage(_ input: [UInt8]) throws(BrokenPromise) {
        guard let records = MockStorage.decode(String(decoding: input, as: UTF8.self)) else { return }
        let text = MockStorage.encode(records)
        try promise(MockStorage.decode(text) == records, "\(text.debugDescription) are other prints")
    }

    /// A template that is taken for a mock's is one that a mock can give, with a successor.
    private static func mockTemplate(_ input: [UInt8]) throws(BrokenPromise) {
        guard let print = MockPrint(Template(bytes: input)) else { return }
        try promise(MockPrint(print.template) == print, "\(print.text) is another template")
        try promise(
            MockPrint(print.improved.text)?.isSame(as: print) == true,
            "\(print.text) cannot be improved"
        )
    }
}
