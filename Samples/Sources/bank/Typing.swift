// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation

/// Reads a line from the terminal, or from standard input if it is not a terminal; `nil` at the end of input.
func typed(_ prompt: String) -> String? {
    if isatty(STDIN_FILENO) == 1 { print(prompt, terminator: "") }
    fflush(nil)
    return readLine()
}

/// Reads the password without showing it; `nil` if nothing was typed.
func typedPassword() -> SecretBox? {
    guard isatty(STDIN_FILENO) == 1 else { return secret(readLine() ?? "") }
    guard let line = getpass("Password: ") else { return nil }
    let bytes = UnsafeMutableRawBufferPointer(start: line, count: strlen(line))
    // The C library's own copy, which it would keep until the next password.
    defer { bytes.wipe() }
    return bytes.isEmpty ? nil : SecretBox(SecretBytes(copying: UnsafeRawBufferPointer(bytes).bytes))
}

private func secret(_ text: String) -> SecretBox? {
    text.isEmpty ? nil : SecretBox(SecretBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) })
}
