// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeptThings

// A program that keeps things, and can be killed while it does: it does what each line of standard input says, and tells
// the outcome in a line of its own once it is done. Its arguments are the state directory and the TPM's address.

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(64) }
let programs = Programs(directory: arguments[1], tpm: arguments[2])
while let line = readLine() {
    let step = try JSONDecoder().decode(KeepingStep.self, from: Data(line.utf8))
    let outcome = await step.run(on: programs)
    // The acknowledgement comes before the chip is let go of, as in a program that goes on.
    try FileHandle.standardOutput.write(contentsOf: try JSONEncoder().encode(outcome) + Data("\n".utf8))
    await programs.letGo()
}
