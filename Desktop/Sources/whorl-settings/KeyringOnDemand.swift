// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The commands that give the keyring its own password, or the login password again.
enum KeyringOnDemand {
    /// The exit status of a command whose prompt the user has canceled.
    private static let canceled: Int32 = 11

    /// Runs a command, which prompts for a touch; returns a sentence for the user.
    @concurrent
    static func turn(on isOn: Bool, with loginPassword: SecretBox) async -> String {
        do throws(ServiceError) {
            return try await PromptsForCommand.shown { await run(isOn, loginPassword) }
        } catch {
            return error.shown
        }
    }

    private static func run(_ isOn: Bool, _ loginPassword: SecretBox) async -> String {
        guard let program = InstalledProgram.whorl, let password = pipe(with: loginPassword) else {
            return translated("The change failed.")
        }
        let words = isOn ? ["on", "--on-demand"] : ["off"]
        let command = ChildProgram(
            words: [program, "keyring"] + words + ["--login-password-fd", "3"],
            handed: password,
            readsErrors: true
        )
        let ending = await command.run()
        switch ending.status {
        case 0: return isOn ? translated("Turned on.") : translated("Turned off.")
        case canceled: return ""
        default: return sentence(for: ending.output)
        }
    }

    /// Returns a descriptor from which the command reads the password; it is never an argument or a file.
    private static func pipe(with password: SecretBox) -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard g_unix_open_pipe(&ends, FD_CLOEXEC, nil) != 0 else { return nil }
        defer { close(ends[1]) }
        // It fits into the pipe, so that this does not wait. The command ends at the end of the line.
        let isWritten = password.bytes.withUnsafeBytes {
            write(ends[1], $0.baseAddress, $0.count) == $0.count
        }
        guard isWritten, write(ends[1], "\n", 1) == 1 else {
            close(ends[0])
            return nil
        }
        return ends[0]
    }

    /// Returns the error and the hint of a command.
    private static func sentence(for output: [UInt8]) -> String {
        let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
        let parts = ["whorl: error: ", "whorl: hint: "].compactMap { start in
            lines.last { $0.hasPrefix(start) }.map {
                Build.capitalized(String($0.dropFirst(start.count))) + "."
            }
        }
        return parts.isEmpty ? translated("The change failed.") : parts.joined(separator: " ")
    }
}
