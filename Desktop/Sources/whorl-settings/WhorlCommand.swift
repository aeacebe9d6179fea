// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The answer of a command of `whorl`, from its last line of JSON.
struct WhorlAnswer: Decodable, Sendable {
    /// The result of the commands that this program runs.
    struct Outcome: Decodable, Sendable {
        /// Where a PAM service's line is: `own` or `included`; `nil` if the service does not accept a touch.
        let by: String?
    }

    struct Fault: Decodable, Sendable {
        let message: String
        let recovery: String
    }

    let result: Outcome?
    let error: Fault?

    /// Creates an answer from what a command wrote to standard output; `nil` if it does not end with an answer.
    init?(_ output: [UInt8]) {
        guard let line = output.split(separator: UInt8(ascii: "\n")).last,
            // Anything else is not an answer, such as the output of another program.
            let answer = try? JSONDecoder().decode(Self.self, from: Data(line))
        else { return nil }
        self = answer
    }
}

/// A command of `whorl`.
enum WhorlCommand {
    /// Runs a command; returns `nil` if it is not installed or did not answer.
    static func run(_ words: [String]) async -> WhorlAnswer? {
        guard let program = InstalledProgram.whorl else { return nil }
        return WhorlAnswer(await ChildProgram(words: [program] + words + ["--json"]).run().output)
    }
}
