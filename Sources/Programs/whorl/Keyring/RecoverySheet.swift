// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory
import WhorlSupport
import WhorlTerminalPrompt

/// The keyring's own password, shown once on the terminal for the user to write down.
///
/// It is not written to standard output, where it could end up in a file.
enum RecoverySheet {
    /// Shows the password.
    static func show(_ password: SecretBox) throws(Failure) {
        let terminal = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else {
            throw Failure(
                code: "noTerminal",
                message: "There is no terminal on which to show the recovery sheet.",
                recovery: "Run the command in a terminal."
            )
        }
        defer { close(terminal) }
        write(
            """

            Recovery sheet for the keyring of \(ThisProcess.userName)

            If this computer or its TPM is lost, this password unlocks the keyring, also in its own dialog.
            Write it down and keep it where you keep documents. Anyone who has it can read the keyring.

                
            """,
            terminal
        )
        password.bytes.withUnsafeBytes { _ = Glibc.write(terminal, $0.baseAddress, $0.count) }
        write("\n\nThis terminal still shows it later. Run `clear` once you have a copy.\n\n", terminal)
    }

    /// Asks for the end of the password, until the answer shows that the user has a copy.
    static func confirm(_ password: SecretBox) async throws {
        for _ in 0..<3 {
            let answer = try await PasscodeReader().read("The last two groups, to confirm")
            if password.ends(with: answer, count: 9) { return }
        }
        throw Failure(
            code: "notConfirmed",
            message: "The recovery sheet was not confirmed, so nothing was changed.",
            recovery: "Run the command again, and copy the password."
        )
    }

    private static func write(_ text: String, _ terminal: Int32) {
        var text = text
        text.withUTF8 { _ = Glibc.write(terminal, $0.baseAddress, $0.count) }
    }
}

extension SecretBox {
    /// Returns whether the last `count` bytes are the answer, in any case.
    fileprivate func ends(with answer: SecretBox, count: Int) -> Bool {
        bytes.withUnsafeBytes { own in
            answer.bytes.withUnsafeBytes { answer in
                answer.count == count && own.count >= count
                    && zip(own.suffix(count), answer).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
            }
        }
    }
}
