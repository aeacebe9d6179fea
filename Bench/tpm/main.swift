// SPDX-License-Identifier: Apache-2.0

// Measures what the finger releases, on software TPMs of its own, and prints rows of a table.
//
// usage: ReleaseBench WORK-DIRECTORY WHORL RELEASE-C RELEASE-SH ROUNDS SIGNATURES
//
// WORK-DIRECTORY is empty and stays full; WHORL is the program; RELEASE-C is the C program on ESAPI, RELEASE-SH the script
// of tpm2-tools. ROUNDS of ten uses each; SIGNATURES in one process, after a tenth as many to warm up.

import Foundation

/// Fewer rounds than these are too few for a verdict.
let fewest = 20

func measure() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 7, let rounds = Int(arguments[5]), let signatures = Int(arguments[6]) else {
        throw Failure(text: "usage: ReleaseBench WORK-DIRECTORY WHORL RELEASE-C RELEASE-SH ROUNDS SIGNATURES")
    }
    let table = Table(isComplete: rounds >= fewest)
    let subject = try await Subject(directory: arguments[1] + "/vault")
    try await countCommands(subject, table)
    try countWholeRuns(of: arguments[2], in: arguments[1] + "/whole", table)
    try await compareTimes(subject, c: arguments[3], script: arguments[4], rounds, table)
    try await watchMemory(subject, signatures, table)
}

/// Why nothing could be measured.
struct Failure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}

do {
    // What a test tries on purpose is no message to anybody.
    setenv("TSS2_LOG", "all+none", 0)
    try await measure()
} catch {
    FileHandle.standardError.write(Data("ReleaseBench: error: \(error)\n".utf8))
    exit(1)
}
