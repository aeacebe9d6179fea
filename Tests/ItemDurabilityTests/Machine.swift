// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import KeptThings
import SoftwareTPM

/// A machine with a TPM, two fingers and a passcode, and one program for each person, all of which were started before
/// anything happened.
final class Machine: Sendable {
    let tpm: SoftwareTPM
    let programs: Programs
    private let line: Interposer

    init() async throws {
        let tpm = try SoftwareTPM()
        let line = try Interposer(inFrontOf: tpm)
        self.tpm = tpm
        self.line = line
        programs = Programs(directory: tpm.directory.path + "/whorl", tpm: line.address)
        try await programs.prepare()
        try await programs.openAll()
    }

    /// Lets something happen to the machine.
    func change(by happening: Happening) async throws {
        await programs.letGo()
        switch happening {
        case .nothing: break
        case .fingerAdded: try await programs.add(.leftThumb)
        case .fingerRemoved: try await programs.remove(.rightIndex)
        case .otherStart: try tool("pcrextend", "7:sha256=" + String(repeating: "a5", count: 32))
        case .counterLost:
            for index in try tpm.handles(from: 0x0100_0000) where index >> 8 == 0x01_8057 {
                try tool("nvundefine", "-C", "o", "0x" + String(index, radix: 16))
            }
        case .chipBusy: line.decide { _, _ in .cut }
        case .chipCleared: try tool("clear", "-c", "p")
        }
        await programs.letGo()
    }

    /// The chip answers again.
    func answerAgain() { line.decide { _, _ in .pass } }

    private func tool(_ arguments: String...) throws {
        let result = try tpm.tool(arguments: arguments)
        guard result.status == 0 else { throw ToolFailed(words: result.errors) }
    }

    private struct ToolFailed: Error { let words: String }
}
