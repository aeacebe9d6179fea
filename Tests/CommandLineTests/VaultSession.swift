// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM

/// The program with a TPM of a test's own.
struct VaultSession: Sendable {
    let whorl: WhorlProgram
    let tpm: SoftwareTPM

    init() throws {
        whorl = try WhorlProgram()
        tpm = try SoftwareTPM()
    }

    /// Runs a command with the TPM.
    func run(
        _ arguments: [String],
        reader: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> WhorlProgram.Outcome {
        try await whorl.run(
            arguments,
            reader: reader,
            environment: ["WHORL_TCTI": tpm.address].merging(environment) { $1 }
        )
    }

    /// Runs a line of shell, in which `$W` is the program; for input and open files.
    ///
    /// Not for `wait`: the threads of Dispatch block SIGCHLD, what they start inherits that, and dash would wait for ever.
    func sh(
        _ line: String,
        reader: String? = nil,
        environment: [String: String] = [:],
        killedAfter seconds: Double? = nil
    ) async throws -> WhorlProgram.Outcome {
        try await whorl.run(
            "/bin/sh",
            ["-c", line],
            reader: reader,
            environment: ["WHORL_TCTI": tpm.address, "W": WhorlProgram.path].merging(environment) { $1 },
            killedAfter: seconds
        )
    }

    /// Runs a command of `whorl passcode`, or another one, that takes these lines as passcodes.
    func withPasscode(
        _ lines: String...,
        run arguments: String,
        reader: String? = nil
    ) async throws -> WhorlProgram.Outcome {
        let file = whorl.home + "/passcode"
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: file))
        return try await sh("\"$W\" \(arguments) --passcode-fd 3 3<'\(file)'", reader: reader)
    }

    /// Keeps a secret, or fails the test.
    func add(_ name: String, _ secret: String, access: String) async throws {
        let outcome = try await sh("printf %s '\(secret)' | \"$W\" secret add \(name) --access \(access)")
        guard outcome.status == 0 else { throw WhorlProgram.Failed(outcome: outcome) }
    }

    /// Who agrees that a finger is enrolled.
    enum Owner {
        /// Nobody is asked: it is the first finger, and no passcode is set.
        case nobody
        /// An enrolled finger, which touches first.
        case finger(String)
        case passcode(String)

        static let rightIndex = Owner.finger("right-index-finger")
    }

    /// Enrolls a finger on a mock, or fails the test.
    func enroll(_ finger: String = "right-index-finger", by owner: Owner = .nobody) async throws {
        let presses = "touch \(finger)*6"
        let outcome =
            switch owner {
            case .nobody: try await run(["enroll", finger], reader: "mock:" + presses)
            case .finger(let own): try await run(["enroll", finger], reader: "mock:touch \(own)," + presses)
            case .passcode(let passcode):
                try await withPasscode(passcode, run: "enroll \(finger)", reader: "mock:" + presses)
            }
        guard outcome.status == 0 else { throw WhorlProgram.Failed(outcome: outcome) }
    }
}

extension WhorlProgram.Outcome {
    /// Whether it used the TPM, and whether a real one keeps the state.
    var tpm: String? { (answer("result") ?? answer("error"))?["tpm"] as? String }
    var isHardware: Bool? { answer("result")?["hardware"] as? Bool }
}
