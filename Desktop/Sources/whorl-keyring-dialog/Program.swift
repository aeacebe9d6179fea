// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGTK
import Glibc
import KeyringQuestion
import PromptWindows
import WhorlSupport

/// The window for one question of the keyring's prompter, which starts this program.
///
/// It reads the question from standard input, and writes the answer to standard output.
@main
enum Program {
    /// Shows the window on this thread until the question is answered.
    static func main() {
        guard CommandLine.arguments.count == 1, let question = readQuestion() else {
            fail("This program is started by whorl-keyring.", status: 64)
        }
        // The user types passwords into this program.
        guard whorl_hide_memory() != 0 else { fail("Cannot protect the memory of this program.") }
        // The program name for screen readers and window managers.
        g_set_prgname("whorl-keyring-dialog")
        g_set_application_name("whorl-keyring-dialog")
        // As for the prompt, the libraries of the graphics card would need a lot of memory and time.
        setenv("GSK_RENDERER", "cairo", 0)
        Translations.begin()
        guard gtk_init_check() != 0 else { fail("No display found.") }
        MainActor.assumeIsolated {
            Look.adopt()
            KeyringWindow.open(question)
        }
        endWithPrompter()
        g_main_loop_run(g_main_loop_new(nil, 0))
    }

    private static func readQuestion() -> KeyringQuestion? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < KeyringQuestion.longest, read(STDIN_FILENO, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return KeyringQuestion(line: line) }
            line.append(byte)
        }
        return nil
    }

    /// Ends the process when no one reads the answer any longer.
    private static func endWithPrompter() {
        let closed: GUnixFDSourceFunc = { _, _, _ in exit(1) }
        g_unix_fd_add(STDOUT_FILENO, GIOCondition(G_IO_ERR.rawValue | G_IO_HUP.rawValue), closed, nil)
    }

    private static func fail(_ text: String, status: Int32 = 1) -> Never {
        let line = Array("whorl-keyring-dialog: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}
