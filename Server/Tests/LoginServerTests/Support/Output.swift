// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs a program, and returns what it writes.
func output(_ program: String, _ arguments: [String]) async throws -> String {
    try await withCheckedThrowingContinuation { done in
        DispatchQueue.global().async {
            done.resume(
                with: Result {
                    let process = Process()
                    process.executableURL = URL(filePath: program)
                    process.arguments = arguments
                    let pipe = Pipe()
                    process.standardOutput = pipe
                    process.standardError = FileHandle.nullDevice
                    try process.run()
                    let data = pipe.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    return String(decoding: data, as: UTF8.self)
                }
            )
        }
    }
}
