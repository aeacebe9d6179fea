// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import SoftwareTPM
import Synchronization
import Testing

/// The whole way with real parts: libfprint's virtual reader and matcher, swtpm, and the program between them.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct VirtualItemTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    /// Runs a command, and presses the finger of a seed each time it begins to wait for one; the first time the owner's
    /// finger, where the owner has to agree.
    private func run(
        _ arguments: [String],
        finger seed: Int,
        from first: Int,
        owner: Int? = nil
    ) async throws -> WhorlProgram.Outcome {
        let press = Mutex(first)
        let environment = [
            "FP_VIRTUAL_IMAGE": session.whorl.home + "/reader", "HOME": session.whorl.home,
            "WHORL_TCTI": session.tpm.address,
        ]
        return try await session.whorl.run(
            arguments + ["--json", "--timeout", "240"],
            environment: environment
        ) { line, _ in
            guard line == #"{"event":"touch"}"# else { return }
            let next = press.withLock { press in
                defer { press += 1 }
                return press
            }
            let touch = ChildProgram()
            touch.executableURL = URL(filePath: WhorlProgram.simulator)
            touch.arguments = [
                "\(next == first ? owner ?? seed : seed)", "--press", "\(next)", "--timeout", "240",
            ]
            touch.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            touch.standardOutput = FileHandle.nullDevice
            try? touch.start()
            touch.waitForEnd()
        }
    }

    @Test func `the enrolled finger releases a secret, another does not, a third ends it`() async throws {
        #expect(try await run(["enroll", "right-index-finger"], finger: 1, from: 0).status == 0)
        try await session.add("s", "treasure", access: "biometry-current-set")
        let right = try await run(["secret", "get", "s"], finger: 1, from: 20)
        let treasure = Data("treasure".utf8).base64EncodedString()
        #expect(right.answer("result")?["secret"] as? String == treasure, "\(right)")
        #expect(right.answer("result")?["readerKind"] as? String == "virtual")
        let other = try await run(["secret", "get", "s"], finger: 2, from: 0)
        #expect(other.status == 10 && !other.out.contains("secret"), "\(other)")
        #expect(try await run(["enroll", "left-index-finger"], finger: 3, from: 40, owner: 1).status == 0)
        let dead = try await run(["secret", "get", "s"], finger: 1, from: 30)
        #expect(dead.status == 33 && dead.errorCode == "enrollmentChanged", "\(dead)")
    }
}
