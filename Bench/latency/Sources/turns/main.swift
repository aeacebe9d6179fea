// SPDX-License-Identifier: Apache-2.0

// Measures Whorl against a C program on libfprint, and prints rows of a table.
//
// usage: turns WORK-DIRECTORY PICTURES IDENTIFY SUBJECT ROUNDS EVALUATIONS
//
// WORK-DIRECTORY is empty and stays full; IDENTIFY is the C program, SUBJECT the Swift one; ROUNDS of five presses for
// each cell of the table; EVALUATIONS after a tenth as many to warm up.

import Foundation

/// Fewer rounds than these are too few for a verdict.
let fewest = 20

func measure() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 7, let rounds = Int(arguments[5]), let evaluations = Int(arguments[6]) else {
        throw Failure(text: "usage: turns WORK-DIRECTORY PICTURES IDENTIFY SUBJECT ROUNDS EVALUATIONS")
    }
    let bench = try Bench(
        directory: arguments[1],
        pictures: Pictures(path: arguments[2]),
        identify: arguments[3],
        subject: arguments[4]
    )
    try bench.enroll()
    let table = Table(isComplete: rounds >= fewest)
    try bench.compareReaders(rounds, table)
    try bench.compareEvaluations(rounds, table)
    try bench.watchMemory(evaluations, table)
}

do {
    try measure()
} catch {
    FileHandle.standardError.write(Data("turns: error: \(error)\n".utf8))
    exit(1)
}
